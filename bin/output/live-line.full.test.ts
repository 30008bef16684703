import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerReady } from '../server-access/ready.ts';
import { type RunningCommand, runCommand, startServe } from '../testing/built-command.ts';
import { CTRL_C, runOnTerminal } from '../testing/pseudo-terminal.ts';
import { withLiveLine } from './live-line.ts';
import { createOutput } from './output.ts';

const CLEAR = '\r\u001b[K';

/** Returns the final text of a terminal, including the lines that scrolled out of view. */
function finalLines(written: string): readonly string[] {
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

describe('a live line on a terminal', () => {
  it('stays below other output, and is removed at the end of the run', async () => {
    const { stream, written, output } = terminal({ isTTY: true });
    await withLiveLine(
      output,
      async (live) => {
        live.live?.('1 of 3');
        live.live?.('2 of 3');
        live.progress('a word');
        expect(finalLines(written())).toEqual(['a word', '2 of 3']);
        live.line('a result');
      },
      stream,
    );
    expect(finalLines(written())).toEqual(['a word', 'a result', '']);
  });

  it('is removed when the run fails', async () => {
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
    expect(finalLines(written())).toEqual(['']);
    expect(process.listeners('exit').map(({ name }) => name)).not.toContain('clear');
  });

  it('is narrower than the terminal, and has control characters escaped', async () => {
    const { stream, written, output } = terminal({ isTTY: true, columns: 20 });
    await withLiveLine(
      output,
      async (live) => {
        live.live?.(`\u001b[31m${'x'.repeat(50)}`);
        const line = finalLines(written()).at(-1) ?? '';
        expect(line.length).toBeLessThan(40);
        expect(line).not.toContain('\u001b');
      },
      stream,
    );
  });

  it('is not printed without a terminal', async () => {
    const { stream, written, output } = terminal({});
    await withLiveLine(output, async (live) => expect(live.live).toBeUndefined(), stream);
    expect(written()).toBe('');
  });
});

describe('fleetbed conform on a terminal', { timeout: 60_000 }, () => {
  let server: RunningCommand;
  let ready: ServerReady;

  beforeAll(async () => {
    ({ running: server, ready } = await startServe());
  });

  afterAll(() => server.end());

  const wide = { columns: 120 };
  const args = () => ['conform', '--url', ready.baseUrl, '--password', ready.adminPassword];

  it('counts cases on one line, which is removed at the end', async () => {
    const { code, written } = await runOnTerminal([...args(), 'errors/'], wide);
    expect(code).toBe(0);
    const [, first = ''] = written.split(CLEAR);
    expect(first).toMatch(/^suite: 1 of \d+ cases, 0 unsuccessful; errors\//);
    expect(finalLines(written).join('\n')).not.toContain('suite:');
    expect(finalLines(written).join('\n')).toContain('cases passed');
  });

  it('removes the live line after Ctrl-C, and prints the summary', async () => {
    const keys = [['suite: 3 of', CTRL_C]] as const;
    const { code, written } = await runOnTerminal([...args(), '--jobs', '1'], { ...wide, keys });
    expect(code).toBe(130);
    const lines = finalLines(written);
    expect(lines.filter((line) => / of \d+ cases, /.test(line))).toEqual([]);
    expect(lines.join('\n')).toContain('interrupted');
    expect(lines.at(-1)).toBe('');
  });

  it('prints plain lines without a terminal', async () => {
    const { stderr } = await runCommand([...args(), 'errors/']);
    expect(stderr).not.toContain('\u001b');
    expect(stderr).toMatch(/^suite: (\d+) of \1 cases$/m);
  });
});
