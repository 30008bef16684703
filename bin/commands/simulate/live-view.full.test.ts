import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleProgress } from '../../../simulator/testing/sample-result.ts';
import { createOutput } from '../../output/output.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import { type RunningCommand, startServe } from '../../testing/built-command.ts';
import { CTRL_C, runOnTerminal, screenOf } from '../../testing/pseudo-terminal.ts';
import { openLiveView } from './live-view.ts';

/** A stream that keeps its output, with the properties of a terminal. */
function streamOf(facts: { isTTY?: boolean; columns?: number; rows?: number }) {
  let written = '';
  const write = (text: string): boolean => {
    written += text;
    return true;
  };
  const stream = Object.assign(Object.create(process.stderr), { ...facts, write });
  return { stream: stream as NodeJS.WriteStream, written: () => written };
}

function viewOn(
  facts: { isTTY?: boolean; columns?: number; rows?: number },
  environment: Readonly<Record<string, string>> = {},
) {
  const { stream, written } = streamOf(facts);
  const output = createOutput(false, { stdout: stream, stderr: stream });
  const stop = new AbortController();
  const view = openLiveView({ title: 'a run', output, signal: stop.signal, stream, environment });
  return { view, written, stop, output };
}

const progressAt = (elapsedMs: number, exchanges = 42) => ({
  ...sampleProgress,
  elapsedMs,
  exchanges,
});

describe('the live view', () => {
  it('draws each frame over the previous one, and clears the last one', () => {
    const { view, written } = viewOn({ isTTY: true, columns: 80, rows: 40 });
    view.show(progressAt(1000));
    view.show(progressAt(2000, 50));
    const { lines } = screenOf(written());
    expect(lines.filter((line) => line.includes('a run'))).toHaveLength(1);
    expect(lines.join('\n')).toContain('00:00:02');
    expect(lines.join('\n')).toContain('requests 50');
    view.close();
    expect(screenOf(written()).lines.join('')).toBe('');
  });

  it('stays below messages that are printed meanwhile', () => {
    const { view, written, output } = viewOn({ isTTY: true, columns: 80, rows: 40 });
    view.show(progressAt(1000));
    view.above(() => output.progress('a word'));
    view.show(progressAt(2000));
    const { lines } = screenOf(written());
    expect(lines.indexOf('a word')).toBe(0);
    expect(lines[1]).toMatch(/^00:00:02 .* a run$/);
    view.close();
    expect(screenOf(written()).lines.join('')).toBe('a word');
  });

  it('shows recent rates instead of the average of the whole run', () => {
    const { view, written } = viewOn({ isTTY: true, columns: 80, rows: 40 });
    for (let second = 1; second <= 20; second++) view.show(progressAt(second * 1000, 1000));
    view.show(progressAt(21_000, 1100));
    expect(screenOf(written()).lines.join('\n')).toContain('requests 1100 (20/s)');
    view.close();
  });

  it('is drawn at most five times a second', () => {
    const { view, written } = viewOn({ isTTY: true, columns: 80, rows: 40 });
    for (let ms = 1; ms <= 1000; ms++) view.show(progressAt(ms, ms));
    const frames = written().split('\u001b[?2026h').length - 1;
    expect(frames).toBeLessThanOrEqual(5);
    view.close();
  });

  it('shows immediately that the run is ending', () => {
    const { view, written, stop } = viewOn({ isTTY: true, columns: 80, rows: 40 });
    view.show(progressAt(1000));
    stop.abort();
    expect(screenOf(written()).lines.join('\n')).toContain('stopping …');
    view.close();
  });

  it.each([
    ['NO_COLOR is set', { NO_COLOR: '1' }, false],
    ['NO_COLOR is empty', { NO_COLOR: '' }, true],
    ['nothing is said of colours', {}, true],
  ])('obeys the environment for colours when %s', (_what, environment, coloured) => {
    const { view, written } = viewOn({ isTTY: true, columns: 80, rows: 40 }, environment);
    view.show(progressAt(1000));
    expect(written().includes('\u001b[1m')).toBe(coloured);
    view.close();
  });

  it.each([
    ['no terminal', {}, {}],
    ['a terminal that can only write on', { isTTY: true }, { TERM: 'dumb' }],
  ])('prints a plain line every five seconds on %s', (_what, facts, environment) => {
    const { view, written } = viewOn(facts, environment);
    for (let second = 1; second <= 11; second++) view.show(progressAt(second * 1000, second * 10));
    view.close();
    const lines = written().trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(
      /^5\.0 s, 3 of 3 finished, .*, 10\/s, most frequent error: post-alerts status\/503$/,
    );
    expect(written()).not.toContain('\u001b');
  });
});

describe('fleetbed simulate on a terminal', { timeout: 30_000 }, () => {
  let server: RunningCommand;
  let ready: ServerReady;

  beforeAll(async () => {
    ({ running: server, ready } = await startServe());
  });

  afterAll(() => server.end());

  const args = () => [
    ...['simulate', '--url', ready.baseUrl, '--devices', '3', '--keys', 'ed25519=1'],
    ...['--poll', '200ms', '--ramp', '0'],
    ...['--accept', '--password', ready.adminPassword],
  ];

  it('shows frames, and after Ctrl-C only the summary, with the cursor visible', async () => {
    const { code, written, screen } = await runOnTerminal(args(), { keys: [['idle 3', CTRL_C]] });
    expect(code).toBe(130);
    expect(written).toContain('stopping …');
    expect(written).toContain('\u001b[?25l');
    expect(screen.cursorShown).toBe(true);
    const text = screen.lines.join('\n');
    expect(text).toContain('3 devices: INTERRUPTED');
    expect(text).not.toMatch(/requests \d+ \(|█|stopping …/);
  });

  it('makes the cursor visible when a second Ctrl-C stops it, and prints its summary', async () => {
    const keys = [
      ['idle 3', CTRL_C],
      ['stopping …', CTRL_C],
    ] as const;
    const { code, screen } = await runOnTerminal(args(), { keys });
    expect(code).toBe(130);
    expect(screen.cursorShown).toBe(true);
  });
});
