import { describe, expect, it } from 'vitest';
import { UnknownIdError } from '../suite/selection.ts';
import { verdictOn } from '../testing/results.ts';
import type { CaseVerdict, ReportedViolation, VerdictName } from './result.ts';
import { outcomeOf } from './result.ts';
import { applyWaivers, readWaivers, WaiverFileError } from './waivers.ts';

const caseId = 'authentication/first-contact-is-401';
const waiver = { id: caseId, reason: 'ticket 7', owner: 'Ada', expires: '2026-12-31' };
const lastDay = '2026-12-31';
const on = (today: string) => ({
  today,
  tested: new Map([[caseId, ['auth.first-contact-is-401']]]),
});
const passed = verdictOn('errors/error-says-why', { verdict: 'pass' });

function judge(
  verdict: VerdictName | undefined,
  changes: Partial<typeof waiver> = {},
  today = lastDay,
) {
  const verdicts = verdict === undefined ? [] : [verdictOn(caseId, { verdict })];
  const waived = applyWaivers([...verdicts, passed], [{ ...waiver, ...changes }], on(today));
  return { ...waived, outcome: outcomeOf(waived.verdicts, waived.problems) };
}

describe('a waiver of a case', () => {
  it('covers a failure until the end of its last day, and keeps the verdict', () => {
    const { verdicts, waivers, problems, outcome } = judge('fail');
    expect(verdicts[0]).toMatchObject({
      verdict: 'fail',
      waiver: { reason: 'ticket 7', owner: 'Ada', expires: '2026-12-31' },
    });
    expect(waivers[0]).toMatchObject({ caseId, state: 'used' });
    expect([problems, outcome]).toEqual([[], 'pass']);
  });

  it.each<[VerdictName, string]>([
    ['pass', 'the waiver of Ada on authentication/first-contact-is-401 is no longer needed'],
    ['observed', 'is no longer needed: the case passes; remove it'],
  ])('fails the run if its case has the verdict %s', (verdict, sentence) => {
    const { problems, outcome } = judge(verdict);
    expect(problems[0]?.text).toContain(sentence);
    expect(outcome).toBe('fail');
  });

  it.each<VerdictName>(['fail', 'pass'])(
    'fails the run after its expiry if its case has the verdict %s',
    (verdict) => {
      const { verdicts, problems, outcome } = judge(verdict, {}, '2027-01-01');
      expect(verdicts[0]).not.toHaveProperty('waiver');
      expect(problems).toEqual([
        {
          code: 'waiver-expired',
          text: `the waiver of Ada on ${caseId} expired on 2026-12-31; fix the cause or renew it`,
        },
      ]);
      expect(outcome).toBe('fail');
    },
  );

  it('does not cover an error of the suite', () => {
    const { waivers, outcome } = judge('error');
    expect([waivers[0]?.state, outcome]).toEqual(['not-decided', 'error']);
  });

  it.each([
    ['start-state-missed', 'used', 'pass'],
    ['case-time-limit', 'used', 'pass'],
    ['interrupted', 'not-decided', 'inconclusive'],
    ['target-lost', 'not-decided', 'inconclusive'],
  ])('is decided for a case that is inconclusive as %s: it is %s', (code, state, outcome) => {
    const inconclusive = verdictOn(caseId, {
      verdict: 'inconclusive',
      reason: { code, text: 'x' },
    });
    const { verdicts, waivers } = applyWaivers([inconclusive, passed], [waiver], on(lastDay));
    expect([waivers[0]?.state, outcomeOf(verdicts, [])]).toEqual([state, outcome]);
  });

  it.each<VerdictName | undefined>(['skip', undefined])(
    'remains undecided if its case has the verdict %s',
    (verdict) => {
      const { waivers, problems } = judge(verdict);
      expect([waivers[0]?.state, problems]).toEqual(['not-decided', []]);
    },
  );

  it('lets a run pass when it covers the only failed case', () => {
    const failed = verdictOn(caseId, { verdict: 'fail' });
    const { verdicts } = applyWaivers([failed], [waiver], on(lastDay));
    expect(outcomeOf(verdicts, [])).toBe('pass');
  });
});

describe('a case that follows from a waived failure', () => {
  const url = 'http://host/api/devices/v1/authentication/auth_requests';
  const exchanges = (status: number, line = `POST ${url}`) => [
    { startMs: 0, elapsedMs: 1, request: { line, headers: {} }, response: { status, headers: {} } },
  ];
  const failed = verdictOn(
    caseId,
    { verdict: 'fail', expected: 'status 401', actual: '403 without a body' },
    { exchanges: exchanges(403) },
  );
  const text =
    'the start state needs a first contact that is refused, but the target answered with 403';
  const unreachedStart = (expected: string | undefined, seen = exchanges(403)) =>
    verdictOn(
      'authentication/undecided-is-401',
      { verdict: 'inconclusive', reason: { code: 'start-state-missed', text, expected } as never },
      { exchanges: seen },
    );
  const waived = (otherVerdict: CaseVerdict, tested = ['auth.first-contact-is-401']) => {
    const known = { today: lastDay, tested: new Map([[caseId, tested]]) };
    const { verdicts, problems } = applyWaivers([otherVerdict, failed], [waiver], known);
    return { waiver: verdicts[0]?.waiver, outcome: outcomeOf(verdicts, problems) };
  };

  it('is waived and says so when the same wrong response kept it from its start state', () => {
    const { waiver: own, outcome } = waived(unreachedStart('status 401'));
    expect(own).toEqual({ reason: 'ticket 7', owner: 'Ada', expires: lastDay, follows: caseId });
    expect(outcome).toBe('pass');
  });

  it.each<[string, CaseVerdict]>([
    ['another expectation', unreachedStart('status 200')],
    ['an unknown expectation', unreachedStart(undefined)],
    ['another status', unreachedStart('status 401', exchanges(500))],
    ['another operation', unreachedStart('status 401', exchanges(403, `GET ${url}`))],
    ['no exchange', unreachedStart('status 401', [])],
  ])('is not assumed for %s', (_, otherVerdict) => {
    expect(waived(otherVerdict)).toEqual({ waiver: undefined, outcome: 'inconclusive' });
  });

  const violation = (requirement: string, operation: string): ReportedViolation => ({
    requirements: [requirement],
    level: 'must',
    operation,
    text: '400 body: /request_id must be a string, not 17',
    exchange: { startMs: 0, elapsedMs: 1, request: { line: 'GET http://host/', headers: {} } },
  });
  const violating = (violated: string, operation = 'put-configuration') =>
    verdictOn(
      'errors/error-says-why',
      {
        verdict: 'fail',
        expected: 'every exchange',
        actual: 'passive check',
        violated: [violated] as never,
      },
      { violations: [violation('errors.request-id-is-string', operation)] },
    );
  const textual = {
    ...failed,
    violated: ['errors.request-id-is-string' as const],
    violations: [violation('errors.request-id-is-string', 'post-auth-request')],
  };
  const alsoWaived = (otherVerdict: CaseVerdict, tested: readonly string[]) => {
    const known = { today: lastDay, tested: new Map([[caseId, tested]]) };
    return applyWaivers([otherVerdict, textual], [waiver], known).verdicts[0]?.waiver?.follows;
  };

  it('is waived when its exchanges only violate what the waived case tests', () => {
    const own = ['errors.request-id-is-string'];
    expect(alsoWaived(violating('errors.request-id-is-string'), own)).toBe(caseId);
  });

  it.each<[string, CaseVerdict, string | undefined]>([
    ['the same operation', violating('errors.request-id-is-string', 'post-auth-request'), caseId],
    ['another operation', violating('errors.request-id-is-string'), undefined],
    ['a failure of its own', violating('errors.says-why', 'post-auth-request'), undefined],
  ])(
    'is waived or not if the waived case does not test its violations: %s',
    (_, otherVerdict, follows) => {
      expect(alsoWaived(otherVerdict, ['auth.first-contact-is-401'])).toBe(follows);
    },
  );
});

describe('a waiver file', () => {
  const validText = `waivers:
  - id: ${caseId}
    reason: ticket 7
    owner: Ada
    expires: 2026-12-31
`;

  const read = (text: string) => readWaivers(text, 'w.yaml', [caseId, 'errors/error-says-why']);

  it('may be written as YAML or JSON', () => {
    expect(read(validText)).toEqual([waiver]);
    expect(read(JSON.stringify({ waivers: [waiver] }))).toEqual([waiver]);
    expect(read('waivers: []')).toEqual([]);
  });

  it('may name a case by its former ID', () => {
    const [present] = readWaivers(
      validText.replace(caseId, 'inventory/value-of-another-kind'),
      'w.yaml',
      ['inventory/value-changes-its-type'],
    );
    expect(present?.id).toBe('inventory/value-changes-its-type');
  });

  it.each([
    ['broken YAML', 'waivers: [', /w\.yaml:1:\d+ /],
    ['a list', '[]', /w\.yaml:1:1 must be an object, not an array$/],
    ['no waivers', '{}', /w\.yaml:1:1 waivers: is required/],
    [
      'no owner',
      validText.replace('    owner: Ada\n', ''),
      /w\.yaml:2:5 waivers\.0\.owner: is required/,
    ],
    [
      'an empty owner',
      validText.replace('owner: Ada', "owner: ' '"),
      /w\.yaml:4:12 .*must not be empty/,
    ],
    [
      'a wrong date',
      validText.replace('2026-12-31', 'soon'),
      /w\.yaml:5:14 .*must be a day such as 2026-12-31/,
    ],
    [
      'an unknown field',
      validText.replace('reason', 'reasons'),
      /w\.yaml:3:5 .*reasons: is unknown; the nearest fields are reason, /,
    ],
    [
      'two waivers of a case',
      `${validText}${validText.slice('waivers:\n'.length)}`,
      /w\.yaml:6:9 .* has a waiver already/,
    ],
  ])('is refused with line and column: %s', (_, text, sentence) => {
    expect(() => read(text)).toThrow(WaiverFileError);
    expect(() => read(text)).toThrow(sentence);
  });

  it('names each case that does not exist, with its place and the nearest IDs', () => {
    const text = `${validText.replace('-401', '-402')}${validText.slice('waivers:\n'.length)}`;
    expect(() => read(text)).toThrow(UnknownIdError);
    expect(() => read(text)).toThrow(/w\.yaml:2:9 "\S+-402" \(nearest: \S+-401, /);
  });
});
