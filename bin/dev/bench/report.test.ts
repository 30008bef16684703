import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { changesOf, joinedResult, readResult, requireSameMachine, resultOf } from './result.ts';
import { limitRow, rowOf } from './row.ts';
import { changesText, resultMarkdown, resultText, shownFigure } from './text.ts';

const poll = (ours: number, title = 'a poll') =>
  rowOf({
    title,
    unit: 'responses/CPU s',
    better: 'higher',
    goal: 0.75,
    subject: { name: 'ours', values: [ours, ours, ours] },
    baseline: { name: 'bare', values: [80_000, 100_000, 100_000] },
    others: [{ name: 'framework', values: [10_000, 10_000, 10_000] }],
    note: 'on a quiet machine',
  });
const run = limitRow({
  title: 'a run',
  unit: 's',
  subject: { name: 'ours', values: [10] },
  limit: 20,
});
const earlierResult = resultOf({ date: 'monday', form: 'quick, 3 rounds' }, [
  { name: 'server', rows: [poll(40_000), poll(1, 'gone')] },
]);
const currentResult = resultOf({ date: 'tuesday', cores: 'not pinned' }, [
  { name: 'server', rows: [poll(50_000)] },
  { name: 'conformance', rows: [run] },
]);

describe('the text of a benchmark result', () => {
  const text = resultText(currentResult);

  it('begins with the machine and the versions of the run', () => {
    expect(text).toMatch(/^date +tuesday\ncores +not pinned\n/);
  });

  it('shows ratio with range, goal and verdict before the absolute figures', () => {
    const [line] = text.split('\n').filter((each) => each.includes('a poll '));
    expect(line?.split(/\s*│\s*/).slice(1, -1)).toEqual([
      ...['a poll', '0.50 (0.50..0.63)', '0.75', 'missed'],
      ...['ours 50,000', 'bare 100,000', 'responses/CPU s'],
    ]);
  });

  it('shows the other programs with their ratios, without a verdict', () => {
    expect(text).toMatch(/│ 0\.10 \(0\.10\.\.0\.13\) +│ +│ +│ framework 10,000/);
  });

  it('ends with the number of goals met, and names the missed ones', () => {
    expect(text.split('\n').at(-1)).toBe('1 of 2 goals met; missed: a poll');
  });
});

describe('figures in a benchmark report', () => {
  it.each([
    [38_419.6, '38,420'],
    [99.96, '100'],
    [12.345, '12.3'],
    [0.012345, '0.0123'],
  ])('show %d as %s', (value, text) => {
    expect(shownFigure(value)).toBe(text);
  });
});

describe('the comparison with an earlier result', () => {
  it('shows the change of each ratio, and rows of only one result', () => {
    expect(changesOf(earlierResult, currentResult)).toEqual([
      { part: 'server', title: 'a poll', before: 0.4, now: 0.5, change: 0.25 },
      { part: 'conformance', title: 'a run', before: undefined, now: 2, change: undefined },
      { part: 'server', title: 'gone', before: 0.00001, now: undefined, change: undefined },
    ]);
  });

  it('leaves out parts that were not measured now', () => {
    const [server] = currentResult.parts;
    const part = resultOf({}, server ? [server] : []);
    expect(changesOf(currentResult, part).map(({ title }) => title)).toEqual(['a poll']);
  });

  it('shows no change where the ratio was 0', () => {
    const none = resultOf({}, [{ name: 'server', rows: [poll(0)] }]);
    expect(changesOf(none, none).map(({ change }) => change)).toEqual([undefined]);
  });

  it('is a table of before, now and change', () => {
    const text = changesText(earlierResult, currentResult);
    expect(text).toMatch(/^Ratios since monday \(quick, 3 rounds\)\n/);
    expect(text).toMatch(/│ a poll +│ 0\.40 +│ 0\.50 +│ \+25 % +│/);
    expect(text).toMatch(/│ a run +│ +│ 2\.00 +│ +│/);
    expect(changesText(currentResult, earlierResult)).toMatch(
      /│ a poll +│ 0\.50 +│ 0\.40 +│ -20 % +│/,
    );
  });
});

describe('the table of several benchmark results', () => {
  const environment = {
    date: '2026-11-25T10:00:00Z',
    machine: '2 x CPU',
    memory: '4 GiB',
    node: '20.1.0',
    cores: 'not pinned',
    fleetbed: '0.1.0',
  };
  const server = resultOf(environment, currentResult.parts.slice(0, 1));
  const suite = resultOf(
    { ...environment, date: '2026-11-25T18:00:00Z' },
    currentResult.parts.slice(1),
  );

  it('names machine and day once, above the rows of all parts', () => {
    expect(resultMarkdown(joinedResult(server, suite)).split('\n')).toEqual([
      '2 x CPU, Node 20.1.0, 2026-11-25, Fleetbed 0.1.0:',
      '',
      '| part | measured | ratio (range) | goal |  | subject | baseline |',
      '| --- | --- | --- | --- | --- | --- | --- |',
      '| server | a poll | 0.50 (0.50..0.63) | 0.75 | missed | 50,000 responses/CPU s | bare 100,000; framework 0.10 |',
      '| conformance | a run | 2.00 | 1.00 | met | 10 s | limit 20 |',
    ]);
  });

  it.each([
    [
      'machine',
      '2 x other CPU',
      /^--table: the machine of one result is 2 x CPU, that of another 2 x/,
    ],
    ['cores', 'pinned', /^--table: the cores of one result is not pinned, that of another pinned;/],
    ['node', '22.0.0', /^--table: the node of one result is 20\.1\.0, that of another 22\.0\.0;/],
    ['date', '2026-11-26', /^--table: one result is of 2026-11-25, another of 2026-11-26;/],
  ])('refuses results that differ in %s', (fact, value, sentence) => {
    const otherResult = resultOf({ ...environment, [fact]: value }, suite.parts);
    expect(() => joinedResult(server, otherResult)).toThrow(sentence);
  });

  it('keeps only the later measurement of a part', () => {
    const again = resultOf(environment, [{ name: 'server', rows: [poll(90_000)] }]);
    expect(joinedResult(server, again).parts).toEqual(again.parts);
  });
});

describe('the comparison of two machines', () => {
  it('is refused, because the change of a ratio would be that of the machine', () => {
    const [one, other] = ['a', 'b'].map((machine) => resultOf({ machine }, currentResult.parts));
    if (one === undefined || other === undefined) throw new Error('there are two results');
    expect(() => requireSameMachine('--compare', one, other)).toThrow(
      '--compare: the machine of one result is a, that of another b; measure both on one machine',
    );
  });
});

describe('the file of a benchmark result', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleetbed-bench-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const fileOf = (text: string) => {
    const file = join(folder, 'result.json');
    writeFileSync(file, text);
    return file;
  };

  it('is read back as it was written', async () => {
    expect(await readResult('--compare', fileOf(JSON.stringify(currentResult)))).toEqual(
      currentResult,
    );
  });

  it.each([
    ['no JSON', '{'],
    ['another result', '{"schema":"fleetbed-conformance/2"}'],
    ['an invalid ratio', JSON.stringify(currentResult).replace('"median":0.5', '"median":null')],
  ])('is refused with one sentence if it is %s', async (_, text) => {
    await expect(readResult('--compare', fileOf(text))).rejects.toThrow(
      /^--compare: .*result\.json is not a benchmark result; give a file written by npm run bench -- --json FILE\.$/,
    );
  });

  it('is refused if it is missing', async () => {
    await expect(readResult('--compare', join(folder, 'none'))).rejects.toThrow(
      /^--compare cannot read .*none: there is no such file or folder/,
    );
  });
});
