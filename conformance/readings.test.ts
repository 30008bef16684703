import { describe, expect, it } from 'vitest';
import { openPoints } from '../fixtures/contract/open-points.ts';
import { requirements } from '../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../fixtures/contract/requirements/requirement.ts';
import { listCases } from './conformance.ts';
import { readingsOf } from './readings.ts';
import { conformanceReport } from './report/text.ts';
import { resultOf, verdictOn } from './testing/results.ts';

const records: readonly Requirement[] = Object.values(requirements);
const linked = records.filter(({ openPoint }) => openPoint !== undefined);

describe('the links from requirements to open points', () => {
  it('lead to open points that are there', () => {
    const known = openPoints.map(({ id }) => id);
    const lost = linked.filter(({ openPoint = '' }) => !known.includes(openPoint));
    expect(lost.map(({ id }) => id)).toEqual([]);
  });

  it('begin at what is left open, which no case can fail', () => {
    expect(linked.filter(({ level }) => level !== 'may').map(({ id }) => id)).toEqual([]);
  });
});

describe('the readings of a run', () => {
  const observing = listCases().filter(({ requirements: named }) =>
    linked.some(({ id }) => named.some((each) => each === id)),
  );
  const [first] = observing;
  const openPoint = linked.find(({ id }) => first?.requirements.some((each) => each === id));

  it('have an entry for each open point that a requirement observes', () => {
    const ids = new Set(linked.map((each) => each.openPoint));
    expect(
      readingsOf([])
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual([...ids].toSorted());
    expect(readingsOf([]).flatMap(({ seen }) => seen)).toEqual([]);
  });

  it('put what the target did beside what our server does', () => {
    const verdict = verdictOn(first?.id ?? '', {
      verdict: 'observed',
      observation: 'answered 404',
    });
    const [reading] = readingsOf([verdict]).filter(({ seen }) => seen.length > 0);
    const point = openPoints.find(({ id }) => id === reading?.id);
    expect(reading).toMatchObject({ question: point?.question, ours: point?.choice });
    expect(reading?.seen).toEqual([
      { caseId: first?.id, verdict: 'observed', text: 'answered 404' },
    ]);
    const text = conformanceReport(resultOf([verdict], { openPoints: readingsOf([verdict]) }));
    expect(text).toContain(`  ${point?.question} [${openPoint?.openPoint}]`);
    expect(text).toContain(`    our server  ${point?.choice}`);
    expect(text).toContain(`    the target  answered 404 [${first?.id}]`);
  });

  it('say why nothing was seen', () => {
    const reason = { code: 'operator', text: 'the target does not offer operator' };
    const verdict = verdictOn(first?.id ?? '', { verdict: 'skip', reason });
    const seen = readingsOf([verdict]).flatMap((reading) => reading.seen);
    expect(seen).toEqual([{ caseId: first?.id, verdict: 'skip', text: reason.text }]);
  });
});
