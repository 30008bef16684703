import { describe, expect, it } from 'vitest';
import {
  deviceRowOf,
  differenceOf,
  sampleMachine,
  sampleProgress,
  sampleResult,
} from '../testing/sample-result.ts';
import { fleetReport, progressLine } from './text.ts';

describe('the report of a run', () => {
  it('shows the seed, the funnel, the balance, latencies and answers', () => {
    const text = fleetReport(sampleResult);
    expect(text).toContain(
      '3 devices against http://127.0.0.1:8080, seed "x": settled after 4.2 s',
    );
    expect(text).toMatch(/^ {2}already installed {2}0$/m);
    expect(text).toMatch(/^ {2}failure {12}1$/m);
    expect(text).toContain('Balance: holds for 3 devices');
    expect(text).toMatch(/^ {2}post-alerts {2}1\.0 {2}13\.0 {2}13\.0 {2}13\.0 {2}6$/m);
    expect(text).toContain('2xx 6, 4xx 1, unanswered 2 (timeouts 1, resets 1)');
    expect(text).toContain('Errors: none');
  });

  it('says that the balance was not checked, and why', () => {
    const because = 'there was no login to the management API';
    const balance = {
      checked: false,
      ok: false,
      because,
      deploymentsChecked: 0,
      withoutArtifact: 0,
      books: [],
      lostReports: 0,
      doubledReports: 0,
      statistics: [],
      differences: [],
    };
    expect(fleetReport({ ...sampleResult, balance })).toContain(
      `Balance: not checked (${because})`,
    );
  });

  it('tells which shards were taken over, and which are lost', () => {
    const takeover = { shard: 1, afterMs: 4200, from: 'a', to: 'b', because: 'a died', adopted: 7 };
    const kept = { exchanges: 12, untilMs: 3900 };
    const lost = [{ shard: 2, because: 'nobody took it' }];
    const spread = { takeovers: [{ ...takeover, kept }], lost, missingDeviceMs: 6351 };
    const text = fleetReport({ ...sampleResult, spread });
    expect(text).toContain('shard 1: b took over from a after 4.2 s (a died); 7 devices had come');
    expect(text).toContain('by then; what it had measured by 3.9 s is kept (12 exchanges)');
    expect(text).toContain('shard 2: LOST, it has no result (nobody took it); nothing that it');
    expect(text).toContain('MISSING: no figure is about 50.0% of the run');
    expect(fleetReport(sampleResult)).not.toContain('Shards');
  });

  it('says how many events were lost, and on what the run was made', () => {
    const machines = [{ ...sampleMachine, processes: 3, cpuModel: 'CPU\u001b[2J' }];
    const events = { written: 30, lost: 12, fault: 'ENOSPC' };
    const text = fleetReport({ ...sampleResult, machines, events });
    expect(text).toContain('Events: 12 of 42 are LOST (writing failed with ENOSPC)');
    expect(text).toContain(
      'Made on\n  fleetbed 0.1.0, node v20.19.0, linux 6.1 x64, 2 x CPU\\u{1b}[2J, 4.0 GiB, 3 processes',
    );
    const whole = fleetReport({ ...sampleResult, events: { written: 9, lost: 0 } });
    expect(whole).toContain('Events: 9 written, none lost');
    expect(fleetReport(sampleResult)).not.toMatch(/Events|Made on/);
  });

  it('does not claim a balance where there was no deployment', () => {
    const balance = { ...sampleResult.balance, deploymentsChecked: 0 };
    const text = fleetReport({ ...sampleResult, balance });
    expect(text).toContain('Balance: nothing to check');
    expect(text).not.toContain('holds');
  });

  it('tells where the sums of the server differ from its list, and which report was lost', () => {
    const statistics = [{ deploymentId: 'd', status: 'success', listed: 3, stated: 4 }];
    const differences = [{ ...differenceOf(1), kind: 'lost' as const }];
    const balance = { ...sampleResult.balance, ok: false, differences, statistics };
    const text = fleetReport({ ...sampleResult, balance });
    expect(text).toContain('does NOT hold, 2 differences');
    expect(text).toContain("the server's failure, a report was lost");
    expect(text).toContain('deployment d, success: the server lists 3 and states 4');
  });

  it('tells why devices stayed idle when no artifact fitted them', () => {
    const balance = { ...sampleResult.balance, withoutArtifact: 2 };
    const plan = { ...sampleResult.plan, deploy: 'release-9' };
    const text = fleetReport({ ...sampleResult, plan, balance });
    expect(text).toContain('for 2 of them the server found no artifact of the name release-9');
    expect(fleetReport(sampleResult)).not.toContain('no artifact');
  });

  it('names every device for which the books differ', () => {
    const balance = { ...sampleResult.balance, ok: false, differences: [differenceOf(2)] };
    const text = fleetReport({ ...sampleResult, balance });
    expect(text).toContain('Balance: does NOT hold, 1 differences');
    expect(text).toContain("device 2 (id-2): ours success, the server's failure");
  });

  it('shortens a long list and says by how much', () => {
    const differences = Array.from({ length: 25 }, (_, index) => differenceOf(index));
    const text = fleetReport({
      ...sampleResult,
      balance: { ...sampleResult.balance, ok: false, differences },
    });
    expect(text).toContain('  and 15 more');
    expect(text).not.toContain('device 10 ');
  });

  it('tells when half, nearly all and all were updated', () => {
    const at = (index: number, endedMs: number) => deviceRowOf(index, { offeredMs: 1000, endedMs });
    const devices = [at(0, 2000), at(1, 3000), deviceRowOf(2, { outcome: 'failure' })];
    const { deployedMs: _, ...result } = sampleResult;
    expect(fleetReport({ ...result, devices })).toContain(
      '  updated: 50% after 2.0 s, 95% never, 100% never',
    );
    expect(fleetReport(sampleResult)).not.toContain('updated:');
  });

  it('shows thresholds, and says before all else that figures are invalid', () => {
    const thresholds = [
      { threshold: 'errors < 0.1%', verdict: 'missed', observed: '3\u001b%' },
    ] as const;
    const generator = { ...sampleResult.generator, reasons: ['the event loop was busy'] };
    const text = fleetReport({ ...sampleResult, thresholds, validity: 'invalid', generator });
    expect(text).toMatch(/^ {2}errors < 0\.1% {2}missed {2}3\\u\{1b\}%$/m);
    expect(text.indexOf('INVALID: the generator was the limit')).toBeLessThan(
      text.indexOf('Funnel'),
    );
    expect(text).toContain('  the event loop was busy');
    expect(fleetReport(sampleResult)).not.toMatch(/INVALID|Thresholds/);
  });

  it('lets no control character of a server or a plan reach the terminal', () => {
    const differences = [differenceOf(1, 'fail\u001b[2J\u0007\u202eure')];
    const spoiled = {
      ...sampleResult,
      seed: 'x\u001b]0;gotcha\u0007',
      balance: { ...sampleResult.balance, ok: false, differences },
      errors: [{ operation: 'connect', cause: 'status/\r\n\u009b1m', count: 1 }],
    };
    const text = fleetReport(spoiled);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).toContain('fail\\u{1b}[2J\\u{7}\\u{202e}ure');
  });
});

describe('the line of progress', () => {
  it('tells where the fleet stands', () => {
    expect(progressLine(sampleProgress)).toBe(
      '1.5 s, 3 of 3 ended, 0 underway, 0 idle, 0 waiting, 0 silent, 3 sockets, 42 exchanges, ' +
        '1 errors',
    );
  });
});
