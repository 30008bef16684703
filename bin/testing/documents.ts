/**
 * Reproduces the output in documents for comparison. A `text output` block shows what the preceding
 * `sh` block prints on a terminal; its line `...` stands for omitted lines. All blocks use one
 * server; a block that starts a server shows the first line of that server.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../fixtures/base/clock.ts';
import type { ServerReady } from '../server-access/ready.ts';
import { startCommand } from './built-command.ts';

const ELLIPSIS = '...';
/** Addresses as shown in documents; the actual server uses free ports and another password. */
const shownAs = { baseUrl: 'http://127.0.0.1:8080', controlUrl: 'http://127.0.0.1:8081' } as const;
const password = 'a-long-password';

/** The documents of the project, relative to its folder. */
export const documents = [
  'README.md',
  '.github/CONTRIBUTING.md',
  '.github/ci/README.md',
  'bin/guide.md',
  'bin/help.md',
  'conformance/guide.md',
  'server/guide.md',
  'server/recipes.md',
  'server/security.md',
  'simulator/guide.md',
] as const;

/** The folder of the project. */
export const projectFolder = fileURLToPath(new URL('../../', import.meta.url));

/** An output block with the script that produces it. */
export interface ShownOutput {
  /** Offset of the output in the document. */
  readonly index: number;
  readonly script: string;
  readonly output: string;
}

/** An environment in which the blocks of all documents run in order. */
export interface DocumentStage {
  /** Returns the output of the script on both streams, with the addresses that documents show. */
  produce(script: string, limitMs: number): Promise<string>;
  close(): Promise<void>;
}

/** Returns the output blocks of a document. */
export function shownOutputs(document: string): readonly ShownOutput[] {
  const pairs = /^```sh\n((?:(?!```).*\n)*)```\n\n```text output\n((?:(?!```).*\n)*)```$/gm;
  return [...document.matchAll(pairs)].map((match) => {
    const [whole, script = '', output = ''] = match;
    return { index: match.index + whole.length - '```'.length - output.length, script, output };
  });
}

/** Starts the server and creates an empty folder for the blocks. */
export async function openStage(): Promise<DocumentStage> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetbed-documents-'));
  symlinkSync(join(projectFolder, 'fixtures'), join(folder, 'fixtures'));
  const home = { HOME: folder, XDG_RUNTIME_DIR: folder, FLEETBED_ADMIN_PASSWORD: password };
  const args = ['--port', '0', '--control-port', '0', '--log-level', 'error'];
  const close = () => rmSync(folder, { recursive: true });
  const { running, started } = await startServer(
    [...args, '--ready-file', join(folder, 'ready')],
    home,
  ).catch((error: unknown) => {
    close();
    throw error;
  });
  const ready: ServerReady = JSON.parse(readFileSync(join(folder, 'ready'), 'utf8'));
  const commands = commandFolder(folder);
  const replacePorts = (from: string, to: 'real' | 'shown'): string =>
    (['baseUrl', 'controlUrl'] as const).reduce((result, name) => {
      const [real, documented] = [ready[name], shownAs[name]];
      return to === 'real'
        ? result.replaceAll(documented, real)
        : result.replaceAll(real, documented);
    }, from);
  return {
    produce: async (script, limitMs) => {
      if (/^(\w+=\S+ )*npx fleetbed serve\b[^\n]*\n$/.test(script))
        return replacePorts(started, 'shown');
      const env = {
        ...home,
        PATH: `${commands}:${process.env.PATH}`,
        XDG_CACHE_HOME: join(tmpdir(), 'fleetbed-test-cache'),
        FLEETBED_URL: ready.baseUrl,
        FLEETBED_CONTROL_URL: ready.controlUrl,
        FLEETBED_CONTROL_TOKEN: ready.controlToken,
      };
      const child = spawn('sh', ['-c', `exec 2>&1\n${replacePorts(script, 'real')}`], {
        cwd: folder,
        env,
        detached: true,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const late = systemClock.after(limitMs, () => process.kill(-(child.pid ?? 0)));
      const output = await text(child.stdout);
      late.cancel();
      return replacePorts(output, 'shown');
    },
    close: async () => {
      await running.end();
      close();
    },
  };
}

async function startServer(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const running = startCommand(['serve', ...args], environment);
  return { running, started: await running.waitForOutput('stdout', /\n/) };
}

/** Creates a folder with an `npx fleetbed` and an `npm start --` that run the built command. */
function commandFolder(folder: string): string {
  const commandFile = join(projectFolder, 'dist', 'bin', 'fleetbed.js');
  for (const [name, args] of Object.entries({ npx: '', npm: 'demo' })) {
    const file = join(folder, name);
    // Number of arguments of `npx` and `npm start` before those of the command.
    const shiftLine = name === 'npx' ? 'shift' : 'shift 2';
    writeFileSync(
      file,
      `#!/bin/sh\n${shiftLine}\nexec '${process.execPath}' '${commandFile}' ${args} "$@"\n`,
    );
    chmodSync(file, 0o755);
  }
  return folder;
}

/** Returns true when the script runs the demo, which takes too long to repeat for a document. */
export function isDemo({ script }: ShownOutput): boolean {
  return script.startsWith('npm start');
}

/** Reduces the produced output to the pieces that the document shows, with `...` for the rest. */
export function abridgeOutput(produced: string, documented: string): string {
  const lines = produced.trimEnd().split('\n');
  const chunks = documented.split(/^\.\.\.\n/m).map((chunk) => chunk.split('\n').slice(0, -1));
  if (chunks.length === 1) return `${lines.join('\n')}\n`;
  let end = 0;
  const chunkLines = chunks.map((chunk, index) => {
    const start = locationOf(chunk, index === chunks.length - 1);
    end = start + chunk.length;
    return lines.slice(start, end).map((line) => `${line}\n`);
  });
  return chunkLines.map((chunk) => chunk.join('')).join(`${ELLIPSIS}\n`);

  /**
   * Returns the line where a piece starts: the first piece at the top, the last one at the end,
   * others at the line that equals their first line.
   */
  function locationOf(chunk: readonly string[], isLast: boolean): number {
    if (isLast) return Math.max(end, lines.length - chunk.length);
    if (chunk[0] === undefined) return end;
    const first = withoutChangingValues(chunk[0]);
    const location = lines.findIndex(
      (line, index) => index >= end && withoutChangingValues(line) === first,
    );
    return end === 0 && location < 0 ? 0 : Math.max(end, location);
  }
}

/** Replaces everything that differs between runs: IDs, secrets, times and measured figures. */
export function withoutChangingValues(output: string): string {
  return output
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replace(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replace(/(password |#token=)\S+?(?=,|\s|$)/g, '$1SECRET')
    .replace(/\b(seed|run) "?[\w-]+"?/g, '$1 SEED')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d\d:\d\d:\d\d(\.\d+)?Z?/g, 'MOMENT')
    .replace(/^\d+(?= +MOMENT| +\S+ +\S+ \((?:must|should)\))/gm, 'N')
    .replace(/\d[\d,.]*(?= requests| exchanges| a second|\/s\b| audit-log| devices x )/g, 'N')
    .replace(/\d+(\.\d+)? ?(µs|ms|s|m)\b/g, 'N s')
    .replace(/\d+\.\d+/g, 'N')
    .replace(/[ ─]+/g, (run) => (run.includes('─') ? '─' : ' '))
    .replace(/ +$/gm, '');
}
