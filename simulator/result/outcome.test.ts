import { XMLParser } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import { fleetJunit } from '../report/junit.ts';
import { fleetReport } from '../report/text.ts';
import { differenceOf, sampleResult } from '../testing/sample-result.ts';
import { outcomeOf, type RunVerdict } from './outcome.ts';
import type { FleetResult } from './result.ts';
import { noUser } from './result-devices.ts';

const nobody = { ...sampleResult.funnel, success: 0, failure: 0, aborted: 0 };
const pending = { ...nobody, pending: 3 };
const unchecked = { ...sampleResult.reconciliation, checked: false, ok: false };
const missed = { threshold: 'p99(all) < 9ms', verdict: 'missed', observed: '12 ms' } as const;
const deploys = { ...sampleResult.plan, deploy: 'release-2' };
const limited = { ...sampleResult.generator, reasons: ['the event loop was busy'] };

function exchanges(operation: string, responses: Readonly<Record<string, number>>, unanswered = 0) {
  const [row] = sampleResult.operations;
  return row ? [{ ...row, operation, responses, unanswered }] : [];
}
const refused = { funnel: pending, operations: exchanges('post-auth-request', { '4xx': 9 }) };
const accepts = exchanges('set-auth-set-status', { '2xx': 2500 });
const requirement = { requirement: 'status.is-204', sentence: 'A report is answered with 204.' };
const checksWith = (judged: number, violated: number) => {
  const row = { ...requirement, judged, violated, stages: [], violations: [] };
  return { devices: 1, exchanges: 9, requirements: [row] };
};

/** Kinds of run: the changes to a passed run, the verdict, and the text of the first line. */
const kinds: readonly [string, Partial<FleetResult>, RunVerdict, string][] = [
  ['that updated its devices', {}, 'passed', 'reconciliation agrees'],
  [
    'that differs from the server',
    {
      reconciliation: { ...sampleResult.reconciliation, ok: false, differences: [differenceOf(1)] },
    },
    'failed',
    'reconciliation found 1 difference',
  ],
  ['that missed a threshold', { thresholds: [missed] }, 'failed', '1 of 1 threshold missed'],
  [
    'whose server violated a requirement',
    { checks: checksWith(9, 1) },
    'failed',
    '1 requirement violated',
  ],
  [
    'whose generator was the limit',
    { validity: 'invalid', generator: limited },
    'invalid',
    'limited by the load generator',
  ],
  [
    'whose generator was the limit, with a missed threshold',
    { validity: 'invalid', generator: limited, thresholds: [missed] },
    'invalid',
    'limited by the load generator, 1 of 1 threshold missed',
  ],
  [
    'of which a shard was lost',
    { spread: { takeovers: [], lost: [{ shard: 1, reason: 'nobody took it' }] } },
    'incomplete',
    '1 shard lost',
  ],
  ['of refused devices', refused, 'not accepted', 'no device was accepted'],
  [
    'whose authentication requests were answered without a token',
    {
      funnel: { ...nobody, noContact: 3 },
      operations: exchanges('post-auth-request', { '2xx': 20 }),
      errors: [{ operation: 'post-auth-request', cause: 'response/not-a-token', count: 20 }],
    },
    'not accepted',
    'no device was accepted',
  ],
  [
    'whose polls were answered with a page',
    {
      operations: exchanges('post-next-deployment-v2', { '2xx': 16 }),
      errors: [{ operation: 'post-next-deployment-v2', cause: 'response/not-json', count: 16 }],
    },
    'inconclusive',
    'no poll succeeded',
  ],
  [
    'whose polls were answered with errors only',
    { operations: exchanges('post-next-deployment-v2', { '5xx': 16 }, 3) },
    'inconclusive',
    'no poll succeeded',
  ],
  [
    'that accepted devices, of which none came back',
    { ...refused, operations: [...refused.operations, ...accepts] },
    'inconclusive',
    '2,500 devices accepted, none authenticated after that',
  ],
  [
    'of which no device got a response',
    { funnel: { ...nobody, noContact: 3 }, operations: exchanges('post-auth-request', {}, 9) },
    'inconclusive',
    'no device got a response',
  ],
  [
    'whose deployment nobody installed',
    { plan: deploys, funnel: { ...nobody, failure: 3 } },
    'inconclusive',
    'no device was updated',
  ],
  [
    'that was to settle and did not',
    { plan: { ...sampleResult.plan, until: 'settled' }, ended: 'duration' },
    'inconclusive',
    'not settled in time',
  ],
  [
    "whose server's list could not be read",
    { reconciliation: { ...unchecked, reason: 'a 500' } },
    'inconclusive',
    'reconciliation not possible',
  ],
  [
    'in which no requirement was tested',
    { checks: checksWith(0, 0) },
    'inconclusive',
    'no requirement tested',
  ],
  [
    'that was interrupted',
    { ended: 'interrupted', thresholds: [missed] },
    'interrupted',
    'threshold missed',
  ],
];

const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '@' });

describe('the outcome of a run', () => {
  it.each(kinds)(
    'has the same verdict in headline, text and JUnit: %s',
    (_what, change, verdict, expected) => {
      const result: FleetResult = { ...sampleResult, ...change };
      const outcome = outcomeOf(result);
      expect(outcome.verdict).toBe(verdict);
      expect(outcome.headline).toMatch(new RegExp(`^3 devices: ${verdict.toUpperCase()}, `));
      expect(outcome.headline).toContain(expected);
      expect(fleetReport(result).split('\n')[0]).toBe(outcome.headline);
      const failures = Number(parser.parse(fleetJunit(result)).testsuites['@failures']);
      if (verdict === 'passed') expect(failures).toBe(0);
      else expect(failures).toBeGreaterThan(0);
    },
  );

  const passing: readonly [string, Partial<FleetResult>][] = [
    ['without a user, nothing is reconciled', { reconciliation: { ...unchecked, reason: noUser } }],
    [
      'its thresholds measure authentication requests only',
      { ...refused, thresholds: [{ ...missed, threshold: 'p99(auth) < 1s', verdict: 'met' }] },
    ],
    ['the plan switched every device off at its end', { funnel: { ...nobody, off: 3 } }],
    ['a device that is pending now was accepted before', { funnel: pending }],
    [
      'every device had the artifact already',
      { plan: deploys, funnel: { ...nobody, alreadyInstalled: 3 } },
    ],
    [
      'the plan itself aborts its deployment',
      {
        plan: { ...deploys, incidents: [{ name: 'abort-deployment', atMs: 1 }] },
        funnel: { ...nobody, aborted: 3 },
      },
    ],
  ];
  it.each(passing)('is passed when %s', (_what, change) => {
    expect(outcomeOf({ ...sampleResult, ...change }).verdict).toBe('passed');
  });

  it('reports a generator or a reconciliation that was not judged as not judged', () => {
    const reconciliation = { ...sampleResult.reconciliation, deploymentsChecked: 0 };
    const { findings, headline } = outcomeOf({
      ...sampleResult,
      validity: 'not-judged',
      reconciliation,
    });
    const open = findings.filter(({ state }) => state === 'not judged');
    expect(open.map(({ sentence }) => sentence)).toEqual([
      'There was nothing to reconcile: no deployment was created.',
      'The load generator was not judged: only 6 polls were due.',
    ]);
    expect(headline).toBe('3 devices: PASSED');
  });

  it('names in the first line what a lost worker left unmeasured', () => {
    const spread = { takeovers: [], lost: [], missingDeviceMs: 6351 };
    expect(outcomeOf({ ...sampleResult, spread }).headline).toBe(
      '3 devices: PASSED, reconciliation agrees, 50.0% of the run was not measured',
    );
  });

  it('names the right that the user lacks when nobody was accepted', () => {
    const errors = [{ operation: 'set-auth-set-status', cause: 'status/403', count: 9 }];
    const { findings } = outcomeOf({ ...sampleResult, ...refused, errors });
    expect(findings.find(({ state }) => state === 'not accepted')?.sentence).toMatch(
      /^No device was accepted: the user lacks the right for set-auth-set-status \(403\); give /,
    );
  });

  it('recommends to check types and dependencies when an artifact fits no device', () => {
    const reconciliation = { ...sampleResult.reconciliation, withoutArtifact: 3 };
    const result = {
      ...sampleResult,
      plan: deploys,
      funnel: { ...nobody, idle: 3 },
      reconciliation,
    };
    const [finding] = outcomeOf(result).findings.filter(({ state }) => state === 'inconclusive');
    expect(finding?.sentence).toMatch(
      /^No device was updated to release-2: no artifact of that name/,
    );
    expect(finding?.sentence).toContain('its dependencies');
  });
});
