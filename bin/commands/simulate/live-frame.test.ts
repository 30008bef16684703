import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { sampleProgress } from '../../../simulator/testing/sample-result.ts';
import { type LiveFacts, liveFrame } from './live-frame.ts';
import { widthOf } from './live-spans.ts';

const size = { columns: 100, rows: 50, colour: false };
const deployment = { deploymentId: 'id-1', artifactName: 'release-2' };

function factsOf(change: Partial<LiveFacts['progress']> = {}): LiveFacts {
  return {
    title: '3 devices against http://127.0.0.1:8080, seed "x"',
    progress: { ...sampleProgress, deployment, ...change },
    rates: { exchanges: 12, errors: 0.5, ended: 0 },
    ending: false,
  };
}

describe('a frame of the live view', () => {
  it('shows time, deployment, every state with a bar, rates, percentiles and causes', () => {
    const frame = liveFrame(factsOf({ elapsedMs: 3_725_000 }), size);
    expect(frame).toMatch(/^01:02:05 {2}run {2}3 devices against http:\S+, seed "x"$/m);
    expect(frame).toContain('deployment release-2 id-1  100 % finished (3 of 3)');
    expect(frame).toMatch(/^offered +3 {2}█{40}$/m);
    expect(frame).toMatch(/^rebooting +1 {2}█{13}▎?▍?$/m);
    expect(frame).toMatch(/^already installed +0$/m);
    expect(frame).toContain('updating 0  idle 0  pending 0  no contact 0  sockets 3');
    expect(frame).toContain('requests 42 (12/s)  errors 1  (0.5/s)');
    expect(frame).toContain(
      'generator  CPU 30 %  event loop 20 % busy, p99 2.0 ms  memory 64 MiB  send delay p99 2.0 ms',
    );
    expect(frame).toMatch(/^latency in ms +p50 +p90 +p99 +max +count$/m);
    expect(frame).toMatch(/^post-alerts +1\.0 +13\.0 +13\.0 +13\.0 +6$/m);
    expect(frame).toMatch(/^ +1 {2}post-alerts {2}status\/503$/m);
  });

  it('shows the remaining time at the recent rate', () => {
    const funnel = { ...sampleProgress.funnel, devices: 103 };
    const facts = { ...factsOf({ funnel }), rates: { exchanges: 0, errors: 0, ended: 0.5 } };
    expect(liveFrame(facts, size)).toContain('2 % finished (3 of 103), about 00:03:20 left');
  });

  it('shows no deployment when there is none', () => {
    const { progress, ...facts } = factsOf();
    const { deployment: _, ...without } = progress;
    expect(liveFrame({ ...facts, progress: without }, size)).not.toContain('deployment');
  });

  it('shows the worst figures of several generators', () => {
    const [one] = sampleProgress.generators;
    if (one === undefined) throw new Error('the sample has a generator');
    const generators = [one, { ...one, cpuUserShare: 0.9, memoryMaxBytes: 1 }];
    const frame = liveFrame(factsOf({ generators }), size);
    expect(frame).toContain('worst of 2 generators  CPU 95 %');
    expect(frame).toContain('memory 64 MiB');
  });

  it('names violated requirements, and omits that line when there are none', () => {
    expect(liveFrame(factsOf({ violated: [] }), size)).not.toContain('VIOLATED');
    const frame = liveFrame(factsOf({ violated: ['a.one', 'a.two', 'a.three', 'a.four'] }), size);
    expect(frame).toMatch(/^VIOLATED a\.one a\.two a\.three and 1 more$/m);
  });

  it('shows that the run is ending', () => {
    expect(liveFrame({ ...factsOf(), ending: true }, size)).toContain('stopping …');
  });

  it.each([20, 40, 79, 200])('is never wider than %i columns', (columns) => {
    const artifactName = 'リリース'.repeat(40);
    const facts = factsOf({ deployment: { ...deployment, artifactName } });
    for (const colour of [true, false]) {
      for (const line of liveFrame(facts, { ...size, columns, colour }).split('\n')) {
        expect(widthOf(stripVTControlCharacters(line))).toBeLessThanOrEqual(columns);
      }
    }
  });

  it.each([1, 2, 10, 16, 18, 20, 24])('leaves one line free on a terminal of %i lines', (rows) => {
    const [latency] = sampleProgress.latencies;
    const latencies = Array.from({ length: 30 }, (_, number) => {
      return { ...latency, operation: `operation-${number}` } as never;
    });
    const causes = Array.from({ length: 30 }, (_, number) => {
      return { operation: 'connect', cause: `closed/${number}`, count: 1 };
    });
    const frame = liveFrame(factsOf({ latencies, causes }), { ...size, rows });
    expect(frame === '' ? 0 : frame.split('\n').length).toBeLessThan(rows);
    if (rows === 24) {
      expect(frame).toContain('operation-0');
      expect(frame).toContain('closed/0');
    }
  });

  it('escapes control characters in text from a server', () => {
    const bad = 'x\u001b[2J\u0007\r\n\u202e\u009b1m';
    const causes = [{ operation: 'connect', cause: bad, count: 1 }];
    const facts = factsOf({ causes, deployment: { deploymentId: bad, artifactName: bad } });
    const frame = liveFrame({ ...facts, title: bad }, size);
    expect(frame.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(frame).toContain('x\\u{1b}[2J');
  });

  it('has colours only on request, with the same words', () => {
    const coloured = liveFrame(factsOf(), { ...size, colour: true });
    const plain = liveFrame(factsOf(), size);
    expect(coloured).not.toBe(plain);
    expect(stripVTControlCharacters(coloured)).toBe(plain);
  });
});
