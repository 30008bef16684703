import { describe, expect, it } from 'vitest';
import type { FleetResult } from '../result/result.ts';
import { noUser } from '../result/result-devices.ts';
import {
  deviceRowOf,
  differenceOf,
  dividedResult,
  sampleMachine,
  sampleProgress,
  sampleResult,
  shardFiguresOf,
} from '../testing/sample-result.ts';
import { fleetReport, progressLine } from './text.ts';

describe('the text report of a run', () => {
  it('begins with the outcome, then shows the funnel, reconciliation, latencies and responses', () => {
    const text = fleetReport(sampleResult);
    expect(text).toContain(
      '3 devices: PASSED, reconciliation agrees\n' +
        '  server http://127.0.0.1:8080, seed "x", ended after 4.2 s: every device finished its deployment\n',
    );
    expect(text).toMatch(/^ {2}already installed {2}0$/m);
    expect(text).toMatch(/^ {2}failure {12}1$/m);
    expect(text).toContain('Reconciliation: server and fleet agree on 3 devices');
    expect(text).toMatch(/^ {2}post-alerts +1\.0 +13\.0 +13\.0 +13\.0 +6$/m);
    expect(text).toContain('2xx 6, 4xx 1, unanswered 2 (timeouts 1, resets 1)');
    expect(text).toContain('Errors: 2 of 9 requests (without a response, or with 5xx)');
  });

  it('divides latencies into waiting and service, and shows bytes with their rates', () => {
    const text = fleetReport(dividedResult);
    expect(text).toContain('Latency divided, in ms: waiting from due to sent, service from sent');
    expect(text).toMatch(/^ {2}post-alerts +0\.0 +9\.0 +9\.0 +1\.0 +12\.3 +12\.3$/m);
    expect(text).toContain('Bytes of bodies and WebSocket messages, without headers, TLS and TCP');
    expect(text).toMatch(/^ {2}sent +1\.2 kB +300 B\/s$/m);
    expect(text).toMatch(/^ {2}received +4\.5 MB +1\.13 MB\/s$/m);
    expect(text).toMatch(/^ {2}of it downloads +4 MB +1 MB\/s$/m);
    expect(fleetReport(sampleResult)).not.toMatch(/divided|Bytes of/);
  });

  it('says of how many requests the latencies are divided when a worker failed', () => {
    const { latencies } = shardFiguresOf([40, 50]);
    const whole = { ...dividedResult, latencies: [...dividedResult.latencies, ...latencies] };
    expect(fleetReport(whole)).toContain(
      'service from sent to answered, of 6 of 8 requests; those of failed workers are not divided',
    );
    expect(fleetReport(dividedResult)).not.toContain('failed workers');
  });

  it('says how many polls at a fixed rate were late or dropped, and what to do', () => {
    const fixedRatePolls = { due: 100, sent: 90, late: 20, dropped: 10 };
    expect(fleetReport({ ...sampleResult, fixedRatePolls })).toContain(
      'Polls at a fixed rate: 100 polls due, 90 sent, 20 of them LATE and 10 DROPPED, because every device was busy: use more devices',
    );
    expect(
      fleetReport({ ...sampleResult, fixedRatePolls: { ...fixedRatePolls, late: 0, dropped: 0 } }),
    ).toContain('Polls at a fixed rate: 100 polls due, all sent on time');
    expect(fleetReport(sampleResult)).not.toContain('fixed rate');
  });

  it('says that nothing was reconciled, and gives the reason', () => {
    const reason = 'there was no login to the management API';
    const reconciliation = {
      checked: false,
      ok: false,
      reason,
      deploymentsChecked: 0,
      withoutArtifact: 0,
      sources: [],
      lostReports: 0,
      duplicateReports: 0,
      statistics: [],
      differences: [],
    };
    expect(fleetReport({ ...sampleResult, reconciliation })).toContain(
      `Reconciliation: not checked (${reason})`,
    );
  });

  it('shows which shards were taken over, and which are lost', () => {
    const takeover = { shard: 1, afterMs: 4200, from: 'a', to: 'b', reason: 'a died', adopted: 7 };
    const kept = { exchanges: 12, untilMs: 3900 };
    const lost = [{ shard: 2, reason: 'nobody took it' }];
    const spread = { takeovers: [{ ...takeover, kept }], lost, missingDeviceMs: 6351 };
    const text = fleetReport({ ...sampleResult, spread });
    expect(text).toContain('shard 1: b took over from a after 4.2 s (a died); 7 devices had');
    expect(text).toContain('finished by then; its figures up to 3.9 s are included (12 requests)');
    expect(text).toContain('shard 2: LOST, no result (nobody took it); its figures are lost');
    expect(text).toContain('MISSING: 50.0% of the run was not measured');
    expect(fleetReport(sampleResult)).not.toContain('Shards');
  });

  it('says how many events were lost, and on which machines the run was made', () => {
    const machines = [{ ...sampleMachine, processes: 3, cpuModel: 'CPU\u001b[2J' }];
    const events = { written: 30, lost: 12, error: 'ENOSPC' };
    const text = fleetReport({ ...sampleResult, machines, events });
    expect(text).toContain('Events: 12 of 42 LOST (writing failed with ENOSPC)');
    expect(text).toContain(
      'Load generators\n  fleetbed 0.1.0, node v20.19.0, linux 6.1 x64, 2 x CPU\\u{1b}[2J, 4.0 GiB, 3 processes',
    );
    const whole = fleetReport({ ...sampleResult, events: { written: 9, lost: 0 } });
    expect(whole).toContain('Events: 9 written, none lost');
    expect(fleetReport(sampleResult)).not.toMatch(/Events|Load generators/);
  });

  it('does not claim a reconciliation when there was no deployment', () => {
    const reconciliation = { ...sampleResult.reconciliation, deploymentsChecked: 0 };
    const text = fleetReport({ ...sampleResult, reconciliation });
    expect(text).toContain('Reconciliation: nothing to compare');
    expect(text).not.toContain('agree');
  });

  it('shows lost reports, and differences between the totals and list of the server', () => {
    const statistics = [{ deploymentId: 'd', status: 'success', inList: 3, inStatistics: 4 }];
    const differences = [{ ...differenceOf(1), kind: 'lost' as const }];
    const reconciliation = { ...sampleResult.reconciliation, ok: false, differences, statistics };
    const text = fleetReport({ ...sampleResult, reconciliation });
    expect(text).toContain('Reconciliation: 2 differences');
    expect(text).toContain('server lists failure, report lost');
    expect(text).toContain('deployment d, success: the server lists 3 and counts 4');
  });

  it('explains why devices got no update when no artifact fitted them', () => {
    const reconciliation = { ...sampleResult.reconciliation, withoutArtifact: 2 };
    const plan = { ...sampleResult.plan, deploy: 'release-9' };
    const text = fleetReport({ ...sampleResult, plan, reconciliation });
    expect(text).toContain('no artifact named release-9 is compatible with 2 devices');
    expect(fleetReport(sampleResult)).not.toContain('no artifact');
  });

  it('names every device on which server and fleet differ', () => {
    const reconciliation = {
      ...sampleResult.reconciliation,
      ok: false,
      differences: [differenceOf(2)],
    };
    const text = fleetReport({ ...sampleResult, reconciliation });
    expect(text).toContain('Reconciliation: 1 difference, 0 reports lost');
    expect(text).toContain('device 2 (id-2): device reports success, server lists failure');
  });

  it('shortens a long list and says how many entries it omits', () => {
    const differences = Array.from({ length: 25 }, (_, index) => differenceOf(index));
    const text = fleetReport({
      ...sampleResult,
      reconciliation: { ...sampleResult.reconciliation, ok: false, differences },
    });
    expect(text).toContain('  and 15 more');
    expect(text).not.toContain('device 10 ');
  });

  it('shows when half, nearly all and all devices were updated', () => {
    const finishedRow = (index: number, finishedMs: number) =>
      deviceRowOf(index, { offeredMs: 1000, finishedMs });
    const devices = [
      finishedRow(0, 2000),
      finishedRow(1, 3000),
      deviceRowOf(2, { outcome: 'failure' }),
    ];
    const { deployedMs: _, ...result } = sampleResult;
    expect(fleetReport({ ...result, devices })).toContain(
      '  updated: 50% after 2.0 s, 95% never, 100% never',
    );
    expect(fleetReport(sampleResult)).not.toContain('updated:');
  });

  it('shows thresholds, but says first that figures are invalid', () => {
    const thresholds = [
      { threshold: 'errors < 0.1%', verdict: 'missed', observed: '3\u001b%' },
    ] as const;
    const generator = { ...sampleResult.generator, reasons: ['the event loop was busy'] };
    const text = fleetReport({ ...sampleResult, thresholds, validity: 'invalid', generator });
    expect(text).toMatch(/^ {2}errors < 0\.1% {2}missed {2}3\\u\{1b\}%$/m);
    expect(text.indexOf('INVALID: the load generator was the limit')).toBeLessThan(
      text.indexOf('Funnel'),
    );
    expect(text).toContain('  the event loop was busy');
    expect(fleetReport(sampleResult)).not.toMatch(/INVALID|Thresholds/);
  });

  it('never prints control characters from a server or a plan', () => {
    const differences = [differenceOf(1, 'fail\u001b[2J\u0007\u202eure')];
    const spoiled = {
      ...sampleResult,
      seed: 'x\u001b]0;gotcha\u0007',
      reconciliation: { ...sampleResult.reconciliation, ok: false, differences },
      errors: [{ operation: 'connect', cause: 'status/\r\n\u009b1m', count: 1 }],
    };
    const text = fleetReport(spoiled);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).toContain('fail\\u{1b}[2J\\u{7}\\u{202e}ure');
  });
});

describe('the first line of the text report', () => {
  const verdicts = ['missed', 'met', 'met', 'met'] as const;
  const thresholds = verdicts.map((verdict) => ({
    threshold: 'rate > 1/s',
    verdict,
    observed: '',
  }));
  const funnel = { ...sampleResult.funnel, devices: 1000 };
  const unchecked = { ...sampleResult.reconciliation, checked: false, ok: false };
  const lost = [{ shard: 1, reason: 'nobody took it' }];

  it.each<[string, Partial<FleetResult>]>([
    ['FAILED, 1 of 4 thresholds missed', { thresholds }],
    ['PASSED, reconciliation agrees, 1 threshold met', { thresholds: thresholds.slice(1, 2) }],
    ['PASSED', { reconciliation: { ...unchecked, reason: noUser } }],
    [
      'INCONCLUSIVE, reconciliation not possible',
      { reconciliation: { ...unchecked, reason: 'a 500' } },
    ],
    ['INCOMPLETE, 1 shard lost', { spread: { takeovers: [], lost } }],
    ['INTERRUPTED, 1 of 4 thresholds missed', { thresholds, ended: 'interrupted' }],
    ['INVALID, limited by the load generator', { validity: 'invalid' }],
    [
      'FAILED, reconciliation found 1 difference',
      {
        reconciliation: {
          ...sampleResult.reconciliation,
          ok: false,
          differences: [differenceOf(1)],
        },
      },
    ],
  ])('reads: 1,000 devices: %s', (sentence, change) => {
    const [line] = fleetReport({ ...sampleResult, funnel, ...change }).split('\n');
    expect(line).toBe(`1,000 devices: ${sentence}`);
  });

  it('is followed by ways to accept devices when some are not accepted', () => {
    const pending = { ...funnel, pending: 12 };
    const text = fleetReport({
      ...sampleResult,
      funnel: pending,
      reconciliation: { ...unchecked, reason: noUser },
    });
    expect(text).toContain('12 devices are not accepted: run with --accept and --password');
    expect(text).toContain('or run: npx fleetbed accept --all');
  });

  it('is followed by a remedy when a user accepted none of the devices', () => {
    const nobody = { ...funnel, success: 0, failure: 0, aborted: 0, pending: 1000 };
    const operations = sampleResult.operations.map((row) => ({ ...row, responses: { '4xx': 9 } }));
    const result = { ...sampleResult, funnel: nobody, operations };
    const [line, , remedy] = fleetReport(result).split('\n');
    expect(line).toBe('1,000 devices: NOT ACCEPTED, no device was accepted');
    expect(remedy).toMatch(/^ {2}No device was accepted: see the errors by cause/);
  });
});

describe('a backoff comparison in the text report', () => {
  it('shows the cohorts side by side', () => {
    const row = { devices: 5, requests: 40, peakRequestsPerSecond: 9, requestsPerSecond: [9, 3] };
    const backoffComparison = [
      { ...row, cohort: 'exponential', recovered: 4, fullRecoveryMs: null },
      { ...row, cohort: 'full-jitter', recovered: 5, fullRecoveryMs: 1500 },
    ];
    const text = fleetReport({ ...sampleResult, backoffComparison });
    expect(text).toContain('Backoff comparison\n  cohort       devices  recovered  all recovered');
    expect(text).toMatch(/^ {2}exponential +5 +4 +never +40 +9$/m);
    expect(text).toMatch(/^ {2}full-jitter +5 +5 +1\.5 s +40 +9$/m);
  });
});

describe('the line of progress', () => {
  it('shows the progress of the fleet', () => {
    expect(progressLine(sampleProgress)).toBe(
      '1.5 s, 3 of 3 finished, 0 updating, 0 idle, 0 pending, 0 no contact, 3 sockets, 42 requests, ' +
        '1 errors',
    );
  });
});
