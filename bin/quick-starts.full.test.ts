import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../fixtures/clock.ts';
import { abridged, projectFolder, settled, shownOutputs } from './testing/documents.ts';

const SET_UP_MAX_MS = 900_000;
const BLOCK_MAX_MS = 120_000;
const READY = /^ready at .*\n/m;

const readme = readFileSync(join(projectFolder, 'README.md'), 'utf8');
const [demo, server, ...quickStarts] = shownOutputs(readme);

/** What a new user has: nothing at home, and the way to the registry that the machine has. */
let folder: string;
let environment: NodeJS.ProcessEnv;
const shells: ChildProcess[] = [];

/** Of the machine, not of a user: how the network is reached. */
const isOfNetwork = (name: string) =>
  /^(https?_proxy|no_proxy|node_extra_ca_certs|npm_config_registry)$/i.test(name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-quick-starts-'));
  mkdirSync(join(folder, 'home'));
  environment = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => isOfNetwork(name))),
    PATH: process.env.PATH,
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'home'),
  };
  const words = ['clone', '--quiet', projectFolder, join(folder, 'fleetbed')];
  const clone = spawn('git', words, { env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
  expect(await once(clone, 'exit')).toEqual([0, null]);
}, BLOCK_MAX_MS);

afterAll(async () => {
  for (const shell of shells) await ended(shell, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}, BLOCK_MAX_MS * 2);

/** A new terminal in the clone, into which a block is pasted. */
function paste(script: string) {
  const shell = spawn('bash', { cwd: join(folder, 'fleetbed'), env: environment, detached: true });
  shells.push(shell);
  shell.stdin.end(script);
  return shell;
}

/** Ends a terminal with all that it runs, unless it has ended by itself; its exit code. */
async function ended(shell: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (shell.exitCode !== null || shell.signalCode !== null) return shell.exitCode;
  const exit = once(shell, 'exit');
  process.kill(-(shell.pid ?? 0), signal);
  const [code] = await exit;
  return code;
}

/** Pastes a block and gives what its terminal shows, without what npm says of itself. */
async function shownBy(script: string, limitMs: number): Promise<string> {
  const shell = paste(`exec 2>&1\n${script}`);
  const late = systemClock.after(limitMs, () => ended(shell, 'SIGKILL'));
  const shown = await text(shell.stdout);
  late.cancel();
  return shown.replace(/^npm (notice|warn).*\n/gm, '');
}

describe('README, pasted into a fresh clone by somebody whose home folder is empty', () => {
  it('has a demo, a server and three quick starts of five commands at most', () => {
    expect([demo?.script, server?.script]).toEqual([
      expect.stringMatching(/^npm start/),
      expect.stringContaining('npx fleetbed serve'),
    ]);
    expect(quickStarts).toHaveLength(3);
    for (const { script } of quickStarts) {
      const commands = script.replaceAll('\\\n', ' ').trimEnd().split('\n');
      expect(commands.length).toBeLessThanOrEqual(5);
    }
  });

  it('installs, builds and plays the demo', { timeout: SET_UP_MAX_MS }, async () => {
    const { script = '', output = '' } = demo ?? {};
    const shown = await shownBy(script, SET_UP_MAX_MS);
    expect(settled(abridged(shown, output)), shown).toBe(settled(output));
  });

  it('starts a server, and the quick starts show what README says', {
    timeout: 5 * BLOCK_MAX_MS,
  }, async () => {
    const terminal = paste(server?.script ?? '');
    let said = '';
    terminal.stdout.setEncoding('utf8').on('data', (piece: string) => {
      said += piece;
    });
    const errors = text(terminal.stderr);
    while (!READY.test(said)) {
      const more = await Promise.race([once(terminal.stdout, 'data'), once(terminal, 'exit')]);
      if (typeof more[0] !== 'string') throw new Error(`no server: ${await errors}`);
    }
    expect(settled(said)).toBe(settled(server?.output ?? ''));
    for (const { script, output } of quickStarts) {
      const shown = await shownBy(script, BLOCK_MAX_MS);
      expect.soft(settled(abridged(shown, output)), shown).toBe(settled(output));
    }
    await ended(terminal, 'SIGINT');
    await expect(fetch('http://127.0.0.1:8080/')).rejects.toThrow();
  });

  it('leaves nothing in the clone but what git ignores and the files that were asked for', () => {
    const known = readdirSync(projectFolder);
    const files = readdirSync(join(folder, 'fleetbed')).filter((name) => !known.includes(name));
    expect(files.sort()).toEqual(['answer.json', 'conformance.html', 'conformance.xml']);
  });
});
