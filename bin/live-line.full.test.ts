import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withLiveLine } from './live-line.ts';
import { createOutput } from './output.ts';
import type { ServerReady } from './ready.ts';
import { type RunningCommand, runCommand, startServe } from './testing/built-command.ts';

const CLEAR = '\r\u001b[K';

/** A terminal of one line that forgets nothing above: what a reader sees in the end. */
function seen(written: string): readonly string[] {
  return written
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.split(CLEAR).at(-1) ?? '');
}

function terminal(facts: { isTTY?: boolean; columns?: number }) {
  let written = '';
  const stream = { ...facts, write: (text: string) => (written += text) };
  return {
    stream,
    written: () => written,
    output: createOutput(false, { stdout: stream, stderr: stream }),
  };
}

describe('a live line', () => {
  it('stays below what is said meanwhile, and nothing of it stays in the end', async () => {
    const { stream, written, output } = terminal({ isTTY: true });
    await withLiveLine(
      output,
      async (live) => {
        live.live?.('1 of 3');
        live.live?.('2 of 3');
        live.progress('a word');
        expect(seen(written())).toEqual(['a word', '2 of 3']);
        live.line('a result');
      },
      stream,
    );
    expect(seen(written())).toEqual(['a word', 'a result', '']);
  });

  it('is taken away when what it tells of fails', async () => {
    const { stream, written, output } = terminal({ isTTY: true });
    const failing = withLiveLine(
      output,
      async (live) => {
        live.live?.('1 of 3');
        throw new Error('no');
      },
      stream,
    );
    await expect(failing).rejects.toThrow('no');
    expect(seen(written())).toEqual(['']);
    expect(process.listeners('exit').map(({ name }) => name)).not.toContain('clear');
  });

  it('never fills the width, and steers no terminal by its text', async () => {
    const { stream, written, output } = terminal({ isTTY: true, columns: 20 });
    await withLiveLine(
      output,
      async (live) => {
        live.live?.(`\u001b[31m${'x'.repeat(50)}`);
        const line = seen(written()).at(-1) ?? '';
        expect(line.length).toBeLessThan(40);
        expect(line).not.toContain('\u001b');
      },
      stream,
    );
  });

  it('is not there where no terminal is', async () => {
    const { stream, written, output } = terminal({});
    await withLiveLine(output, async (live) => expect(live.live).toBeUndefined(), stream);
    expect(written()).toBe('');
  });
});

/** Runs a command on a pseudo-terminal, and types Ctrl-C once it has shown what is waited for. */
const typist = `
import os, pty, sys
wanted, words = sys.argv[1].encode(), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(words[0], words)
shown, typed = b'', False
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    shown += part
    if wanted and not typed and wanted in shown:
        os.write(terminal, b'\\x03')
        typed = True
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

describe('fleetbed conform on a terminal', { timeout: 60_000 }, () => {
  let server: RunningCommand;
  let ready: ServerReady;
  let script: string;

  beforeAll(async () => {
    ({ running: server, ready } = await startServe());
    script = join(mkdtempSync(join(tmpdir(), 'fleetbed-live-')), 'typist.py');
    writeFileSync(script, typist);
  });

  afterAll(() => server.end());

  const words = () => ['conform', '--base-url', ready.baseUrl, '--password', ready.adminPassword];

  async function onTerminal(wanted: string, ...more: readonly string[]) {
    const command = [process.execPath, 'dist/bin/fleetbed.js', ...words(), ...more];
    const child = spawn('python3', [script, wanted, ...command]);
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    return { code, shown };
  }

  it('counts on one line, which is gone in the end', async () => {
    const { code, shown } = await onTerminal('', 'errors/');
    expect(code).toBe(0);
    const [, first = ''] = shown.split(CLEAR);
    expect(first).toMatch(/^suite: 1 of \d+ cases, 0 bad; errors\//);
    expect(seen(shown).join('\n')).not.toContain('suite:');
    expect(seen(shown).join('\n')).toContain('cases passed');
  });

  it('leaves nothing of the line behind after Ctrl-C, and sums up', async () => {
    const { code, shown } = await onTerminal('suite: 3 of', '--jobs', '1');
    expect(code).toBe(130);
    const lines = seen(shown);
    expect(lines.filter((line) => / of \d+ cases, /.test(line))).toEqual([]);
    expect(lines.join('\n')).toContain('interrupted');
    expect(lines.at(-1)).toBe('');
  });

  it('says plain lines elsewhere', async () => {
    const { stderr } = await runCommand([...words(), 'errors/']);
    expect(stderr).not.toContain('\u001b');
    expect(stderr).toMatch(/^suite: (\d+) of \1 cases$/m);
  });
});
