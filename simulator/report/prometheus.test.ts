import { describe, expect, it } from 'vitest';
import type { EventFact } from '../device/events.ts';
import type { UpdateState } from '../device/update-states.ts';
import { type MetricFamily, parseExposition } from '../testing/exposition.ts';
import { sampleFunnel, sampleProgress, sampleTraffic } from '../testing/sample-result.ts';
import { FleetMetrics } from './prometheus.ts';

async function familiesOf(metrics: FleetMetrics): Promise<ReadonlyMap<string, MetricFamily>> {
  return parseExposition((await metrics.exposition()).text);
}

/** Returns the value of the sample with these labels, or undefined if there is none. */
function sampleOf(
  families: ReadonlyMap<string, MetricFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const family = families.get(name.replace(/_(bucket|sum|count)$/, '')) ?? families.get(name);
  return family?.samples.find((sample) => {
    const same = Object.entries(labels).every(([label, text]) => sample.labels[label] === text);
    return sample.name === name && same;
  })?.value;
}

function metricsOf(...facts: readonly EventFact[]): FleetMetrics {
  const metrics = new FleetMetrics();
  for (const [index, fact] of facts.entries()) {
    metrics.record({ ...fact, atMs: 1000 * index, sequence: index + 1 });
  }
  return metrics;
}

const poll = { kind: 'exchange', device: 1, operation: 'post-next-deployment-v2' } as const;

function entered(state: UpdateState, device = 1): EventFact {
  return { kind: 'update', device, deploymentId: 'd', artifactName: 'a', state };
}

describe('the Prometheus metrics of a run', () => {
  it('count exchanges by operation and status class, and their time in seconds', async () => {
    const families = await familiesOf(
      metricsOf(
        { ...poll, status: 204, elapsedMs: 4 },
        { ...poll, status: 200, elapsedMs: 40 },
        { ...poll, status: 503, elapsedMs: 400 },
      ),
    );
    const { operation } = poll;
    const total = 'fleetbed_exchanges_total';
    expect(sampleOf(families, total, { operation, outcome: '2xx' })).toBe(2);
    expect(sampleOf(families, total, { operation, outcome: '5xx' })).toBe(1);
    const duration = 'fleetbed_exchange_duration_seconds';
    expect(sampleOf(families, `${duration}_bucket`, { operation, le: '0.005' })).toBe(1);
    expect(sampleOf(families, `${duration}_bucket`, { operation, le: '0.05' })).toBe(2);
    expect(sampleOf(families, `${duration}_count`, { operation })).toBe(3);
    expect(sampleOf(families, `${duration}_sum`, { operation })).toBeCloseTo(0.444);
  });

  it('divide the time of answered exchanges, and count bytes by direction', async () => {
    const metrics = metricsOf(
      { ...poll, status: 204, elapsedMs: 40, waitingMs: 30 },
      { ...poll, cause: 'timeout', elapsedMs: 400 },
    );
    for (const progress of [sampleProgress, { ...sampleProgress, traffic: sampleTraffic }])
      metrics.recordProgress(progress);
    const families = await familiesOf(metrics);
    const { operation } = poll;
    const sumOf = (name: string) => sampleOf(families, `${name}_sum`, { operation });
    expect(sumOf('fleetbed_exchange_waiting_seconds')).toBeCloseTo(0.03);
    expect(sumOf('fleetbed_exchange_service_seconds')).toBeCloseTo(0.01);
    expect(sumOf('fleetbed_exchange_duration_seconds')).toBeCloseTo(0.04);
    const bytes = (direction: string) => sampleOf(families, 'fleetbed_bytes_total', { direction });
    expect(['sent', 'received', 'downloaded'].map(bytes)).toEqual([1200, 4_500_000, 4_000_000]);
  });

  it('count polls at a fixed rate by their outcome, as of the last progress', async () => {
    const metrics = metricsOf();
    for (const due of [5, 9]) {
      metrics.recordProgress({
        ...sampleProgress,
        fixedRatePolls: { due, sent: 4, late: 2, dropped: due - 4 },
      });
    }
    const families = await familiesOf(metrics);
    const polls = (outcome: string) =>
      sampleOf(families, 'fleetbed_fixed_rate_polls_total', { outcome });
    expect(['due', 'sent', 'late', 'dropped'].map(polls)).toEqual([9, 4, 2, 5]);
  });

  it('count violations by requirement and operation', async () => {
    const violation = { kind: 'violation', device: 1, operation: poll.operation } as const;
    const families = await familiesOf(
      metricsOf(
        { ...violation, requirement: 'next.v2-id' },
        { ...violation, requirement: 'next.v2-id' },
        { ...violation, requirement: 'errors.body-is-error' },
      ),
    );
    const samplesOf = (requirement: string) =>
      sampleOf(families, 'fleetbed_violations_total', { requirement, operation: poll.operation });
    expect([samplesOf('next.v2-id'), samplesOf('errors.body-is-error')]).toEqual([2, 1]);
  });

  it('count unanswered exchanges by cause, without a duration', async () => {
    const cause = 'transport/ECONNRESET';
    const families = await familiesOf(
      metricsOf(
        { ...poll, cause, elapsedMs: 4 },
        { kind: 'socket-closed', device: 1, cause: 'closed/1006' },
        { kind: 'socket-closed', device: 1, cause: 'run-ended' },
      ),
    );
    const errors = 'fleetbed_errors_total';
    expect(sampleOf(families, errors, { operation: poll.operation, cause })).toBe(1);
    const closed = 'fleetbed_sockets_closed_total';
    expect(sampleOf(families, closed, { cause: 'closed/1006' })).toBe(1);
    expect(sampleOf(families, closed, { cause: 'run-ended' })).toBeUndefined();
    expect(sampleOf(families, 'fleetbed_exchange_duration_seconds_count')).toBeUndefined();
  });

  it('measure whole updates from the offer to the end', async () => {
    const families = await familiesOf(
      metricsOf(
        entered('offered'),
        entered('downloading'),
        entered('success'),
        entered('already-installed', 2),
      ),
    );
    const name = 'fleetbed_update_duration_seconds';
    expect(sampleOf(families, `${name}_sum`, { outcome: 'success' })).toBe(2);
    expect(sampleOf(families, `${name}_count`, { outcome: 'success' })).toBe(1);
    // Device 2 was offered nothing, so there is no duration to report.
    expect(sampleOf(families, `${name}_count`, { outcome: 'already-installed' })).toBeUndefined();
    expect(sampleOf(families, 'fleetbed_update_states_total', { state: 'downloading' })).toBe(1);
  });

  it('show the states of the devices, in counts that add up to the fleet', async () => {
    const metrics = new FleetMetrics();
    metrics.recordProgress({ ...sampleProgress, elapsedMs: 2500 });
    const families = await familiesOf(metrics);
    const states = families.get('fleetbed_devices')?.samples ?? [];
    expect(states.map(({ labels }) => labels.state)).toContain('already-installed');
    expect(states.reduce((sum, { value }) => sum + value, 0)).toBe(sampleFunnel.devices);
    expect(sampleOf(families, 'fleetbed_devices_reached', { step: 'installing' })).toBe(2);
    expect(sampleOf(families, 'fleetbed_sockets_open')).toBe(3);
    expect(sampleOf(families, 'fleetbed_elapsed_seconds')).toBe(2.5);
  });

  it('show the load of the generator in each shard', async () => {
    const metrics = new FleetMetrics();
    metrics.recordProgress(sampleProgress);
    const families = await familiesOf(metrics);
    const shard = { shard: '0' };
    expect(sampleOf(families, 'fleetbed_generator_cpu_ratio', shard)).toBeCloseTo(0.3);
    expect(sampleOf(families, 'fleetbed_generator_event_loop_lag_seconds', shard)).toBe(0.002);
    expect(sampleOf(families, 'fleetbed_generator_memory_bytes', shard)).toBe(2 ** 26);
    expect(sampleOf(families, 'fleetbed_schedule_lateness_seconds')).toBe(0.002);
  });

  it('show the current stage of the run', async () => {
    const metrics = new FleetMetrics();
    metrics.recordProgress({ ...sampleProgress, stage: 'ramp' });
    metrics.recordProgress({ ...sampleProgress, stage: 'hold' });
    const families = await familiesOf(metrics);
    expect(sampleOf(families, 'fleetbed_stage', { stage: 'ramp' })).toBe(0);
    expect(sampleOf(families, 'fleetbed_stage', { stage: 'hold' })).toBe(1);
  });

  it('escape causes that contain characters of the format', async () => {
    const cause = 'a"} 1\n\\fleetbed_devices 9';
    const families = await familiesOf(metricsOf({ ...poll, cause, elapsedMs: 1 }));
    expect(sampleOf(families, 'fleetbed_errors_total', { cause })).toBe(1);
  });

  it('stay bounded, however many causes a server produces', async () => {
    const facts = Array.from({ length: 500 }, (_, number): EventFact => {
      return { ...poll, cause: `closed/${number}`, elapsedMs: 1 };
    });
    const families = await familiesOf(metricsOf(...facts));
    const samples = families.get('fleetbed_errors_total')?.samples ?? [];
    expect(samples).toHaveLength(201);
    expect(sampleOf(families, 'fleetbed_errors_total', { cause: 'other' })).toBe(300);
  });

  it('count the written and lost lines of the event stream', async () => {
    const metrics = new FleetMetrics();
    metrics.recordEventLines({ written: 5, lost: 1 });
    metrics.recordEventLines({ written: 9, lost: 2 });
    const families = await familiesOf(metrics);
    expect(sampleOf(families, 'fleetbed_event_lines_total', { outcome: 'written' })).toBe(9);
    expect(sampleOf(families, 'fleetbed_event_lines_total', { outcome: 'lost' })).toBe(2);
  });

  it('have names and units that follow the conventions of Prometheus', async () => {
    for (const [name, { type, help }] of await familiesOf(new FleetMetrics())) {
      expect(name).toMatch(/^fleetbed_[a-z_]+$/);
      expect(help).toMatch(/^[A-Z].*\.$/);
      expect(name.endsWith('_total')).toBe(type === 'counter');
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    }
  });
});

describe('the exposition parser of these tests', () => {
  it.each([
    ['a 1', 'the text does not end with a line feed'],
    ['a 1\n', 'belongs to no metric with a type'],
    ['# TYPE a gauge\na{b="c} 1\n', 'not a valid sample|invalid or repeated label'],
    ['# TYPE a gauge\na x\n', 'not a valid sample'],
    ['# TYPE a gauge\na 1\na 2\n', 'the sample repeats an earlier one'],
    [
      '# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\n',
      'is smaller than the one before',
    ],
    ['# TYPE a histogram\na_bucket{le="+Inf"} 1\na_count 2\n', 'a_count is 2'],
  ])('refuses the text %j', (text, said) => {
    expect(() => parseExposition(text)).toThrow(new RegExp(said));
  });
});
