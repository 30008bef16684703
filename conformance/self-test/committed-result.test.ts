import { describe, expect, it } from 'vitest';
import { listCases } from '../conformance.ts';
import {
  figuresOf,
  loadCommittedRows,
  readCommittedResult,
  readmeText,
} from './committed-result.ts';
import { allDefects } from './defects/index.ts';
import { mustsWithoutDefect, mustsWithoutKill } from './matrix.ts';
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
  const result = readCommittedResult();

  it('matches the current cases, models and defects', async () => {
    expect(result.code, again).toEqual(await codeHashes());
    expect(result.cases, again).toBe(listCases().length);
    expect(
      result.defects.map(({ id }) => id),
      again,
    ).toEqual(allDefects.map(({ id }) => id));
  });

  it('has no survivor, no false failure and no breakdown of the suite', () => {
    const { killed, equivalent, falseFailures, suiteErrors, defects } = result.totals;
    expect({ falseFailures, suiteErrors }).toEqual({ falseFailures: 0, suiteErrors: 0 });
    expect(killed + equivalent).toBe(defects);
    const wrong = result.defects.filter(
      ({ outcome, falseFailures: wrongly }) =>
        !['killed', 'equivalent'].includes(outcome) || wrongly.length > 0,
    );
    expect(wrong).toEqual([]);
  });

  it('has a killed defect for each observable MUST', () => {
    expect(mustsWithoutKill(result.defects)).toEqual([]);
  });

  it('has the figures that README states', () => {
    expect(readmeText()).toContain(figuresOf(result));
  });

  it('has totals that are the sums of its rows', () => {
    const { defects, totals } = result;
    expect(totals.defects).toBe(defects.length);
    expect(totals.killed).toBe(defects.filter(({ outcome }) => outcome === 'killed').length);
    expect(totals.casesRun).toBe(defects.reduce((sum, { casesRun }) => sum + casesRun, 0));
  });
});

describe('the committed result of a defect', () => {
  const [row] = readCommittedResult().defects;
  const [defect] = allDefects;
  if (!row || !defect) throw new Error('the committed result is empty');

  /** As many case IDs as the defect touched when the result was committed. */
  const touched = new Set(
    listCases()
      .slice(0, row.casesRun)
      .map(({ id }) => id),
  );

  it('is reused while the defect and the affected cases are unchanged', async () => {
    expect((await loadCommittedRows())(defect, touched)).toEqual(row);
  });

  it('is not reused when the defect affects more or fewer cases', async () => {
    const find = await loadCommittedRows();
    expect(find(defect, new Set([...touched].slice(1)))).toBeUndefined();
    expect(find(defect, new Set([...touched, 'a/new-case']))).toBeUndefined();
  });

  it('is not reused when a case failed falsely', async () => {
    const result = readCommittedResult();
    const falseFailures = [{ caseId: 'a/case', requirements: [] }];
    const defects = result.defects.map((each) => ({ ...each, falseFailures }));
    expect((await loadCommittedRows({ ...result, defects }))(defect, touched)).toBeUndefined();
  });

  it.each(['the defect', 'a case'])(
    'is not reused when the code of %s has changed',
    async (which) => {
      const modules = await modulesById();
      const id = which === 'a case' ? [...touched].at(-1) : defect.id;
      const result = readCommittedResult();
      const code = { ...result.code, [modules.get(id ?? '') ?? '']: 'other' };
      expect((await loadCommittedRows({ ...result, code }))(defect, touched)).toBeUndefined();
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
