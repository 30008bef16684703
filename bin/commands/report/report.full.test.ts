import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { XMLParser } from 'fast-xml-parser';
import { afterAll, describe, expect, it } from 'vitest';
import type { FleetResult } from '../../../simulator/engine/simulate-fleet.ts';
import { DurationHistogram } from '../../../simulator/result/histograms.ts';
import { readFleetResult } from '../../../simulator/result/read-result.ts';
import { deviceRowOf, sampleResult } from '../../../simulator/testing/sample-result.ts';
import { runCommand } from '../../testing/built-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetbed-report-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const report = (...args: readonly string[]) => runCommand(['report', ...args]);
const plan = { ...sampleResult.plan, devices: 4 };

/** Runs one of two shards of a fleet of four devices. */
function shardOf(index: number): FleetResult {
  const devices = [deviceRowOf(2 * index), deviceRowOf(2 * index + 1)];
  return { ...sampleResult, plan, shards: [{ index, of: 2 }], devices };
}

/** Returns a result whose polls took about this long. */
function runOf(pollMs: number): FleetResult {
  const histogram = DurationHistogram.empty();
  for (let count = 0; count < 2000; count++) histogram.record(pollMs + (count % 20) / 2);
  const latencies = [{ operation: 'post-next-deployment-v2', ...histogram.figures() }];
  return { ...sampleResult, latencies };
}

describe('fleetbed report', { timeout: 60_000 }, () => {
  it('renders a result as an HTML page, as JUnit and as text', async () => {
    const result = fileOf('result.json', sampleResult);
    const [html, junit] = [join(folder, 'page.html'), join(folder, 'junit.xml')];
    const { code, stdout, stderr } = await report(
      ...['render', result, '--html', html, '--junit', junit, '--text'],
    );
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(
      '3 devices: PASSED, reconciliation agrees\n  server http://127.0.0.1:8080',
    );
    expect(readFileSync(html, 'utf8')).toContain('"verdict":{"title":"Passed","tone":"positive"');
    expect(new XMLParser().parse(readFileSync(junit, 'utf8'))).toHaveProperty('testsuites');
  });

  it('prints the text when no file is requested', async () => {
    const { code, stdout } = await report('render', fileOf('plain.json', sampleResult));
    expect(code).toBe(0);
    expect(stdout).toContain('Funnel');
  });

  it('prints the JSON Schema of results', async () => {
    const { code, stdout } = await report('schema');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ $id: 'urn:fleetbed:fleet:2', type: 'object' });
  });

  it('merges shards into one exact result', async () => {
    const out = join(folder, 'merged.json');
    const shards = [0, 1].map((index) => fileOf(`shard-${index}.json`, shardOf(index)));
    const { code, stderr } = await report('merge', ...shards, '--out', out);
    expect(code, stderr).toBe(0);
    const merged = readFleetResult(readFileSync(out, 'utf8'));
    expect(merged.devices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(merged.latencies[0]).toMatchObject({ count: 12, p50Ms: 1, maxMs: 13 });
    expect(stderr).not.toContain('none of these results');
  });

  it('states how many devices are missing from a merge', async () => {
    const out = join(folder, 'part.json');
    const { stderr } = await report('merge', fileOf('part-0.json', shardOf(0)), '--out', out);
    expect(stderr).toContain('2 of 4 devices are in none of these results');
  });

  it('exits with 1 for a regression, and with 0 without one', async () => {
    const firstFile = fileOf('before.json', runOf(20));
    const worse = await report('compare', firstFile, fileOf('after.json', runOf(60)));
    expect(worse.code, worse.stderr).toBe(1);
    expect(worse.stdout).toMatch(/^Comparison of B with A: regression \(/);
    expect(worse.stdout).toMatch(
      /^ {2}post-next-deployment-v2 {2}p50 +2\d\.\d ms -> 6\d\.\d ms +\+1\d\d/m,
    );
    const same = await report('compare', firstFile, firstFile, '--json');
    expect(same.code, same.stderr).toBe(0);
    expect(JSON.parse(same.stdout)).toMatchObject({ verdict: 'no difference' });
  });

  it('takes the noise floor from the option', async () => {
    const files = [fileOf('quiet.json', runOf(20)), fileOf('louder.json', runOf(21))];
    const { code } = await report('compare', ...files, '--noise-floor', '1s');
    expect(code).toBe(0);
  });

  it('is inconclusive when the data are too few', async () => {
    const few = fileOf('few.json', { ...sampleResult, latencies: [], operations: [] });
    expect((await report('compare', few, few)).code).toBe(4);
  });

  const validFile = () => fileOf('good.json', shardOf(0));
  it.each<[string, () => readonly string[], number, RegExp]>([
    ['a file that is not there', () => ['render', 'nowhere.json'], 3, /RESULT cannot read nowhere/],
    [
      'no JSON',
      () => ['render', fileOf('a.txt', 'x')],
      3,
      /RESULT: .*a\.txt is not JSON; give a file/,
    ],
    [
      'a report of the suite',
      () => ['render', fileOf('b.json', { schema: 'fleetbed-conformance/2' })],
      3,
      /has the schema fleetbed-conformance\/2; this command reads fleetbed-fleet\/2/,
    ],
    [
      'a file that cannot be written',
      () => ['render', validFile(), '--html', '/nowhere/x.html'],
      3,
      /--html cannot write \/nowhere\/x\.html/,
    ],
    [
      'the same shard twice',
      () => ['merge', validFile(), validFile(), '--out', join(folder, 'x.json')],
      3,
      /RESULTS: shards 1\/2 and 1\/2 overlap/,
    ],
    [
      'shards of different seeds',
      () => {
        const otherFile = fileOf('other.json', { ...shardOf(1), seed: 'y' });
        return ['merge', validFile(), otherFile, '--out', join(folder, 'x.json')];
      },
      3,
      /RESULTS: the results have different seeds/,
    ],
    [
      'a comparison with one file',
      () => ['compare', validFile()],
      2,
      /missing required argument 'later'/,
    ],
    [
      'a second file that is not a result',
      () => ['compare', validFile(), 'nowhere.json'],
      3,
      /LATER cannot read nowhere/,
    ],
    ['a merge without a target', () => ['merge', validFile()], 2, /--out <file>' not specified/],
  ])('refuses %s with one sentence', async (_what, args, exitCode, said) => {
    const { code, stdout, stderr } = await report(...args());
    expect(code).toBe(exitCode);
    expect(stdout).toBe('');
    expect(stderr).toMatch(said);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});
