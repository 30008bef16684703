import { describe, expect, it } from 'vitest';
import { verdictOn } from '../testing/results.ts';
import type { VerdictName } from './result.ts';
import { outcomeOf } from './result.ts';
import { applyWaivers, readWaivers, WaiverFileError } from './waivers.ts';

const check = 'authentication/first-contact-is-401';
const waiver = { check, reason: 'ticket 7', owner: 'Ada', expires: '2026-12-31' };
const known = { today: '2026-12-31', ids: new Set([check, 'errors/error-says-why']) };
const passed = verdictOn('errors/error-says-why', { verdict: 'pass' });

function judge(verdict: VerdictName | undefined, changes: Partial<typeof waiver> = {}, today = '') {
  const verdicts = verdict === undefined ? [] : [verdictOn(check, { verdict })];
  const on = today === '' ? known : { ...known, today };
  const waived = applyWaivers([...verdicts, passed], [{ ...waiver, ...changes }], on);
  return { ...waived, outcome: outcomeOf(waived.verdicts, waived.problems) };
}

describe('a waiver of a case', () => {
  it('covers a failure until the end of its last day, and keeps the verdict', () => {
    const { verdicts, waivers, problems, outcome } = judge('fail');
    expect(verdicts[0]).toMatchObject({
      verdict: 'fail',
      waiver: { reason: 'ticket 7', owner: 'Ada', expires: '2026-12-31' },
    });
    expect(waivers[0]).toMatchObject({ caseId: check, state: 'used' });
    expect([problems, outcome]).toEqual([[], 'pass']);
  });

  it.each<[VerdictName, string]>([
    ['pass', 'the waiver of Ada on authentication/first-contact-is-401 is no longer needed'],
    ['observed', 'is no longer needed: the case passes; remove it'],
  ])('on a case with the verdict %s fails the run', (verdict, sentence) => {
    const { problems, outcome } = judge(verdict);
    expect(problems[0]?.text).toContain(sentence);
    expect(outcome).toBe('fail');
  });

  it.each<VerdictName>(['fail', 'pass'])('that is expired fails the run on %s', (verdict) => {
    const { verdicts, problems, outcome } = judge(verdict, {}, '2027-01-01');
    expect(verdicts[0]).not.toHaveProperty('waiver');
    expect(problems).toEqual([
      {
        code: 'waiver-expired',
        text: `the waiver of Ada on ${check} expired on 2026-12-31; fix the cause or renew it`,
      },
    ]);
    expect(outcome).toBe('fail');
  });

  it('for an unknown case fails the run', () => {
    const { problems, outcome } = judge('fail', { check: 'authentication/first' });
    expect(problems[0]?.code).toBe('waiver-unknown-case');
    expect(problems[0]?.text).toContain('authentication/first matches no case');
    expect(outcome).toBe('fail');
  });

  it.each<VerdictName>(['error', 'inconclusive'])('does not cover the verdict %s', (verdict) => {
    const { waivers, outcome } = judge(verdict);
    expect(waivers[0]?.state).toBe('idle');
    expect(outcome).toBe(verdict);
  });

  it.each<VerdictName | undefined>(['skip', undefined])(
    'for a case with the verdict %s is idle',
    (verdict) => {
      const { waivers, problems } = judge(verdict);
      expect([waivers[0]?.state, problems]).toEqual(['idle', []]);
    },
  );

  it('does not turn a run without other decided cases into a pass', () => {
    const { verdicts } = applyWaivers([verdictOn(check, { verdict: 'fail' })], [waiver], known);
    expect(outcomeOf(verdicts, [])).toBe('inconclusive');
  });
});

describe('a waiver file', () => {
  const good = `waivers:
  - check: ${check}
    reason: ticket 7
    owner: Ada
    expires: 2026-12-31
`;

  it('may be written as YAML or JSON', () => {
    expect(readWaivers(good, 'w.yaml')).toEqual([waiver]);
    expect(readWaivers(JSON.stringify({ waivers: [waiver] }), 'w.json')).toEqual([waiver]);
    expect(readWaivers('waivers: []', 'w.yaml')).toEqual([]);
  });

  it.each([
    ['waivers: [', /w\.yaml:1:\d+ /],
    ['[]', /w\.yaml:1:1 waivers: is required/],
    [good.replace('    owner: Ada\n', ''), /w\.yaml:2:5 waivers\.0\.owner: is required/],
    [good.replace('owner: Ada', "owner: ' '"), /w\.yaml:4:12 .*must not be empty/],
    [good.replace('2026-12-31', 'soon'), /w\.yaml:5:14 .*must be a day such as 2026-12-31/],
    [
      good.replace('reason', 'reasons'),
      /w\.yaml:3:5 .*reasons: is unknown; the nearest fields are reason, /,
    ],
    [`${good}${good.slice('waivers:\n'.length)}`, /w\.yaml:6:12 .* has a waiver already/],
  ])('that is wrong is refused with line and column: %#', (text, sentence) => {
    expect(() => readWaivers(text, 'w.yaml')).toThrow(WaiverFileError);
    expect(() => readWaivers(text, 'w.yaml')).toThrow(sentence);
  });
});
