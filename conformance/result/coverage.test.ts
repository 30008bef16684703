import { describe, expect, it } from 'vitest';
import { requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import { listCases } from '../conformance.ts';
import { coverageCsv, coverageHtml, coverageText } from '../report/coverage.ts';
import type { CaseListing } from '../suite/case.ts';
import { coverageOf } from './coverage.ts';

const coverage = coverageOf(listCases());

const record: Requirement = {
  id: 'errors.request-id',
  heading: 'Errors',
  level: 'must',
  sentence: 'A sentence that ends.',
  operations: [],
};
const [aCase] = listCases();

function naming(...ids: readonly string[]): readonly CaseListing[] {
  if (!aCase) throw new Error('there are no cases');
  return [{ ...aCase, requirements: ids as never }];
}

function state(changes: Partial<Requirement>, cases = naming(record.id)) {
  const [row] = coverageOf(cases, [{ ...record, ...changes }]).rows;
  return [row?.state, row?.reason];
}

describe('the coverage of the requirements', () => {
  it('has one row for each requirement of the contract', () => {
    const ids = coverage.rows.map(({ id }) => id);
    expect(ids.toSorted()).toEqual(Object.keys(requirements).toSorted());
  });

  it('leaves no requirement unaccounted', () => {
    expect(coverage.unaccounted).toEqual([]);
  });

  it('counts every requirement once by heading, by level and by plan', () => {
    for (const groups of [coverage.byHeading, coverage.byLevel, coverage.byPlan]) {
      const sum = Object.values(groups).flatMap((counts) => Object.values(counts));
      expect(sum.reduce((one, other) => one + other, 0)).toBe(coverage.rows.length);
    }
  });

  it('names the cases that test a requirement', () => {
    const row = coverage.rows.find(({ id }) => id === 'auth.first-contact-is-401');
    expect(row?.state).toBe('tested');
    expect(row?.cases.map(({ id }) => id)).toContain('authentication/first-contact-is-401');
  });

  it.each<[string, Partial<Requirement>, readonly CaseListing[], string]>([
    ['that no case names', {}, [], 'no case tests it, and it has no reason for its exclusion'],
    [
      'that is excluded and named all the same',
      { excluded: 'nobody can see it from outside' },
      naming(record.id),
      'it is excluded, but cases test it',
    ],
    [
      'that binds the client without a reason',
      { actor: 'client' },
      [],
      'it applies to clients, but has no reason for its exclusion',
    ],
    [
      'that observes an open point which is none',
      { level: 'may', openPoint: 'errors.no-such-point' },
      naming(record.id),
      'there is no open point errors.no-such-point',
    ],
  ])('reports a requirement %s as unaccounted', (_, changes, cases, reason) => {
    expect(state(changes, cases)).toEqual(['unaccounted', reason]);
    expect(coverageOf(cases, [{ ...record, ...changes }]).unaccounted).toEqual([record.id]);
  });

  it.each<[Partial<Requirement>, readonly CaseListing[], string]>([
    [{}, naming(record.id), 'tested'],
    [{ level: 'should' }, naming(record.id), 'tested'],
    [{ level: 'may' }, naming(record.id), 'observed'],
    [{ excluded: 'nobody can see it from outside' }, [], 'excluded'],
    [{ excluded: 'the client has to do it', actor: 'client' }, [], 'client'],
  ])('reports the requirement %j as accounted for', (changes, cases, expected) => {
    expect(state(changes, cases)[0]).toBe(expected);
  });
});

describe('the renderings of the coverage', () => {
  it('contain every requirement in each format', () => {
    for (const text of [coverageText(coverage), coverageCsv(coverage), coverageHtml(coverage)]) {
      expect(coverage.rows.filter(({ id }) => !text.includes(id))).toEqual([]);
    }
  });

  it('end with the counts in the text format', () => {
    const { tested, observed, excluded, client } = coverage.totals;
    const lastLine = coverageText(coverage).trimEnd().split('\n').at(-1);
    expect(lastLine?.split(/\s+/)).toEqual([
      'all',
      ...[tested, observed, excluded, client, 0].map(String),
    ]);
  });

  it('have one CSV row for each requirement, whatever the sentence contains', () => {
    const odd = coverageOf([], [{ ...record, sentence: 'It "says", over\ntwo lines, this.' }]);
    expect(coverageCsv(odd)).toContain('"It ""says"", over\ntwo lines, this."');
    expect(coverageCsv(coverage).trimEnd().split('\n')).toHaveLength(coverage.rows.length + 1);
  });

  it('escape markup in the sentence of a requirement', () => {
    const odd = coverageOf([], [{ ...record, sentence: '<img src=x> & "co".' }]);
    expect(coverageHtml(odd)).toContain('&lt;img src=x&gt; &amp; &quot;co&quot;.');
    expect(coverageHtml(odd)).not.toContain('<img');
  });

  it('include an HTML page that loads nothing', () => {
    const page = coverageHtml(coverage);
    expect(page).toContain(`content="default-src 'none'; style-src 'sha256-`);
    expect(page).not.toMatch(/<script|\ssrc=|href=/);
  });
});
