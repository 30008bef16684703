import { describe, expect, it } from 'vitest';
import { listCases } from '../conformance.ts';
import { allDefects } from './defects/index.ts';
import { mustsWithoutDefect, mustsWithoutKill } from './matrix.ts';
import { figuresOf, readmeText, readRecord, recordedResults } from './recorded.ts';
import { codeHashes, modulesById, readSource, sourceText } from './source-hashes.ts';

const again = 'run `npm run self-test` and commit conformance/self-test/result.ndjson';

describe('the planted defects', () => {
  it('have unique lower-case IDs, and titles that are whole sentences', () => {
    const ids = allDefects.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id))).toEqual([]);
    const titles = allDefects.map(({ title }) => title);
    expect(titles.filter((title) => !/^[A-Z`].{7,}\.$/.test(title))).toEqual([]);
  });

  it('violate every MUST that can be observed from outside', () => {
    expect(mustsWithoutDefect(allDefects)).toEqual([]);
  });
});

describe('the committed result of the self-test', () => {
  const record = readRecord();

  it('matches the current cases, models and defects', async () => {
    expect(record.code, again).toEqual(await codeHashes());
    expect(record.cases, again).toBe(listCases().length);
    expect(
      record.defects.map(({ id }) => id),
      again,
    ).toEqual(allDefects.map(({ id }) => id));
  });

  it('has no survivor, no false failure and no breakdown of the suite', () => {
    const { killed, equivalent, falseFailures, suiteErrors, defects } = record.totals;
    expect({ falseFailures, suiteErrors }).toEqual({ falseFailures: 0, suiteErrors: 0 });
    expect(killed + equivalent).toBe(defects);
    const wrong = record.defects.filter(
      ({ outcome, falseFailures: wrongly }) =>
        !['killed', 'equivalent'].includes(outcome) || wrongly.length > 0,
    );
    expect(wrong).toEqual([]);
  });

  it('has a killed defect for each observable MUST', () => {
    expect(mustsWithoutKill(record.defects)).toEqual([]);
  });

  it('has the figures that README states', () => {
    expect(readmeText()).toContain(figuresOf(record));
  });

  it('has totals that are the sums of its rows', () => {
    const { defects, totals } = record;
    expect(totals.defects).toBe(defects.length);
    expect(totals.killed).toBe(defects.filter(({ outcome }) => outcome === 'killed').length);
    expect(totals.casesRun).toBe(defects.reduce((sum, { casesRun }) => sum + casesRun, 0));
  });
});

describe('the recorded result of a defect', () => {
  const [row] = readRecord().defects;
  const [defect] = allDefects;
  if (!row || !defect) throw new Error('nothing is recorded');

  /** As many case IDs as the defect touched when it was recorded. */
  const touched = new Set(
    listCases()
      .slice(0, row.casesRun)
      .map(({ id }) => id),
  );

  it('is reused while the defect and the affected cases are unchanged', async () => {
    expect((await recordedResults())(defect, touched)).toEqual(row);
  });

  it('is not reused when the defect affects more or fewer cases', async () => {
    const find = await recordedResults();
    expect(find(defect, new Set([...touched].slice(1)))).toBeUndefined();
    expect(find(defect, new Set([...touched, 'a/new-case']))).toBeUndefined();
  });

  it('is not reused when a case failed falsely', async () => {
    const record = readRecord();
    const falseFailures = [{ caseId: 'a/case', requirements: [] }];
    const defects = record.defects.map((each) => ({ ...each, falseFailures }));
    expect((await recordedResults({ ...record, defects }))(defect, touched)).toBeUndefined();
  });

  it.each(['the defect', 'a case'])(
    'is not reused when the code of %s has changed',
    async (which) => {
      const modules = await modulesById();
      const id = which === 'a case' ? [...touched].at(-1) : defect.id;
      const record = readRecord();
      const code = { ...record.code, [modules.get(id ?? '') ?? '']: 'other' };
      expect((await recordedResults({ ...record, code }))(defect, touched)).toBeUndefined();
    },
  );

  it('has a known module for every case and every defect', async () => {
    const modules = await modulesById();
    const ids = [...listCases(), ...allDefects].map(({ id }) => id);
    expect(ids.filter((id) => !modules.has(id))).toEqual([]);
  });
});

describe('the hash of a module', () => {
  it('changes with the expectations that its cases call, and not without them', async () => {
    const isExpectation = (path: string): boolean => path === 'conformance/target/expectations.ts';
    const before = await codeHashes();
    const after = await codeHashes((path) => sourceText(path) + (isExpectation(path) ? ';1;' : ''));
    const changed = Object.keys(before).filter((path) => before[path] !== after[path]);
    expect(changed).toContain('conformance/cases/every-operation/errors.ts');
    expect(changed).not.toContain('conformance/self-test/defects/errors.ts');
  });
});

describe('the tokens of source code', () => {
  const tokens = async (text: string) => (await readSource(text, 'a/b.ts')).tokens;

  it('are the same despite other comments, white space and import paths', async () => {
    const one = "import { x } from './x.ts';\n/** A. */\nexport const a = [x, 1]; // b";
    const other = "import { x } from '../y/x.ts';\nexport const a = [\n  // c\n  x, 1];";
    expect(await tokens(one)).toBe(await tokens(other));
  });

  it.each(['const a = 2;', "const a = '1';", 'let a = 1;'])('differ for %s', async (text) => {
    expect(await tokens(text)).not.toBe(await tokens('const a = 1;'));
  });
});
