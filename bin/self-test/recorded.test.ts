import { describe, expect, it } from 'vitest';
import { listCases } from '../../conformance/conformance.ts';
import { allDefects } from '../../conformance/self-test/defects/index.ts';
import { undefendedMusts, unprovenMusts } from '../../conformance/self-test/matrix.ts';
import { figuresOf, readmeText, readRecord, sourceHash } from './recorded.ts';

const again = 'run `npm run self-test` and commit conformance/self-test/result.json';

describe('the planted defects', () => {
  it('have ids of their own that can be typed, and titles that are sentences', () => {
    const ids = allDefects.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id))).toEqual([]);
    const titles = allDefects.map(({ title }) => title);
    expect(titles.filter((title) => !/^[A-Z`].{7,}\.$/.test(title))).toEqual([]);
  });

  it('break every must that can be seen from outside', () => {
    expect(undefendedMusts(allDefects)).toEqual([]);
  });
});

describe('the committed result of the self-test', () => {
  const record = readRecord();

  it('is of the cases, the model, the defects and the requirements as they are', () => {
    expect(record.sourceHash, again).toBe(sourceHash());
    expect(record.cases, again).toBe(listCases().length);
    expect(
      record.defects.map(({ id }) => id),
      again,
    ).toEqual(allDefects.map(({ id }) => id));
  });

  it('has no survivor, no false catch and no breakdown of the suite', () => {
    const { killed, equivalent, falseCatches, stumbles, defects } = record.totals;
    expect({ falseCatches, stumbles }).toEqual({ falseCatches: 0, stumbles: 0 });
    expect(killed + equivalent).toBe(defects);
    const wrong = record.defects.filter(
      ({ outcome, falseCatches: wrongly }) =>
        !['killed', 'equivalent'].includes(outcome) || wrongly.length > 0,
    );
    expect(wrong).toEqual([]);
  });

  it('shows for each such must a defect that was caught by its name', () => {
    expect(unprovenMusts(record.defects)).toEqual([]);
  });

  it('is what README says', () => {
    expect(readmeText()).toContain(figuresOf(record));
  });

  it('has totals that are the sums of its rows', () => {
    const { defects, totals } = record;
    expect(totals.defects).toBe(defects.length);
    expect(totals.killed).toBe(defects.filter(({ outcome }) => outcome === 'killed').length);
    expect(totals.played).toBe(defects.reduce((sum, { played }) => sum + played, 0));
  });
});
