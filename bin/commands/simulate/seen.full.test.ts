import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import { parseExposition } from '../../../simulator/testing/exposition.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import {
  type RunningCommand,
  runCommand,
  startCommand,
  startServe,
} from '../../testing/built-command.ts';

let server: RunningCommand;
let ready: ServerReady;
let folder: string;

beforeAll(async () => {
  ({ running: server, ready } = await startServe());
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-seen-'));
});

afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true });
});

const login = () => ['--accept', '--password', ready.adminPassword];
const small = () => [
  'simulate',
  ...['--url', ready.baseUrl, ...login(), '--devices', '4'],
  ...['--keys', 'ed25519=1', '--poll', '100ms', '--ramp', '0', '--connect'],
];

interface Line {
  readonly at: string;
  readonly kind: string;
  readonly device?: number;
  readonly sequence: number;
}

function linesOf(text: string): Line[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

describe('the event stream of a run', { timeout: 30_000 }, () => {
  it('is written as NDJSON to a file, in order and without gaps', async () => {
    const file = join(folder, 'events.ndjson');
    const { code, stderr } = await runCommand([...small(), '--duration', '2s', '--events', file]);
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain('missing');
    const lines = linesOf(readFileSync(file, 'utf8'));
    expect(lines.map(({ at }) => at)).toEqual(lines.map(({ at }) => at).sort());
    for (const device of [undefined, 0, 1, 2, 3]) {
      const own = lines.filter((line) => line.device === device);
      expect(own.map(({ sequence }) => sequence)).toEqual(own.map((_, index) => index + 1));
    }
    const kinds = new Set(lines.map(({ kind }) => kind));
    for (const kind of ['life', 'exchange', 'socket-opened', 'socket-closed', 'ended']) {
      expect(kinds).toContain(kind);
    }
  });

  it('has one order for two processes, as the result records', async () => {
    const file = join(folder, 'events-of-two.ndjson');
    const two = ['--processes', '2', '--duration', '3s', '--events', file, '--json'];
    const { code, stdout, stderr } = await runCommand([...small(), ...two]);
    expect(code, stderr).toBe(0);
    const lines = linesOf(readFileSync(file, 'utf8'));
    expect(JSON.parse(stdout)).toMatchObject({ events: { written: lines.length, lost: 0 } });
    const keys = lines.map(({ at, device = -1, sequence }) => ({ at, device, sequence }));
    const inOrder = keys.toSorted(
      (one, other) =>
        one.at.localeCompare(other.at) ||
        one.device - other.device ||
        one.sequence - other.sequence,
    );
    expect(keys).toEqual(inOrder);
    for (const device of [undefined, 0, 1, 2, 3]) {
      const own = lines.filter((line) => line.device === device);
      expect(own.length).toBeGreaterThan(2);
      expect(own.map(({ sequence }) => sequence)).toEqual(own.map((_, index) => index + 1));
    }
    expect(lines.filter(({ kind }) => kind === 'ended')).toHaveLength(1);
  });

  it('can use standard output alone', async () => {
    const { code, stdout, stderr } = await runCommand([
      ...small(),
      ...['--duration', '1s', '--events', '-'],
    ]);
    expect(code, stderr).toBe(0);
    expect(linesOf(stdout).some(({ kind }) => kind === 'ended')).toBe(true);
    expect(stderr).toContain('Funnel');
  });

  it('reports the number of missing events when the disk is full', async () => {
    const { code, stdout, stderr } = await runCommand([
      ...small(),
      ...['--duration', '1s', '--events', '/dev/full', '--json'],
    ]);
    expect(code).toBe(0);
    const { events }: FleetResult = JSON.parse(stdout);
    expect(events).toMatchObject({ written: 0, error: 'ENOSPC' });
    expect(events?.lost).toBeGreaterThan(10);
    expect(stderr).toMatch(/events: (\d+) of \1 are missing in \/dev\/full; .*ENOSPC/);
  });

  it.each([
    [['--events', '/nowhere/events.ndjson'], 3, '--events cannot write'],
    [['--events', '-', '--json'], 2, 'both write to standard output'],
    [['--metrics', 'nonsense'], 2, '--metrics'],
    [['--metrics', '192.0.2.1:0'], 3, '--metrics cannot listen at 192.0.2.1:0'],
  ])('is refused before the run with the arguments %j', async (args, exitCode, printed) => {
    const { code, stderr } = await runCommand([...small(), ...args]);
    expect(code).toBe(exitCode);
    expect(stderr).toContain(printed);
    expect(stderr).not.toContain('at async');
  });
});

describe('the metrics of a run', { timeout: 30_000 }, () => {
  it.each([
    ['one process', []],
    ['two processes', ['--processes', '2']],
  ])('can be scraped only while the run lasts, with %s', async (_what, more) => {
    const running = startCommand([...small(), '--metrics', '0', ...more]);
    const printed = await running.waitForOutput('stderr', /metrics at (http:\S+)\n/);
    const url = /metrics at (http:\S+)/.exec(printed)?.[1] ?? '';
    expect(url).toContain('127.0.0.1');
    const scraped = async () => parseExposition(await (await fetch(url)).text());
    let families = await scraped();
    const polls = () =>
      families.get('fleetbed_exchange_duration_seconds')?.samples.find(({ name, labels }) => {
        return name.endsWith('_count') && labels.operation === 'post-next-deployment-v2';
      })?.value ?? 0;
    const states = () =>
      (families.get('fleetbed_devices')?.samples ?? []).reduce((sum, { value }) => sum + value, 0);
    while (polls() < 4) families = await scraped();
    expect(states()).toBe(4);
    const shards = families.get('fleetbed_generator_memory_bytes')?.samples;
    expect(shards).toHaveLength(more.length === 0 ? 1 : 2);
    expect((await running.end('SIGINT')).code).toBe(130);
    await expect(fetch(url)).rejects.toThrow();
  });
});
