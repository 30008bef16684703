/**
 * Metrics of a running fleet in Prometheus' text format: counters and histograms from its events,
 * and gauges from its progress. All names begin with `fleetbed_`, and all times are in seconds.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type FleetEvent, RUN_ENDED } from '../device/events.ts';
import { isFinal } from '../device/update-states.ts';
import type { FleetProgress } from '../result/result.ts';
import type { EventLinesCount } from './events-lines.ts';

/**
 * Buckets for the duration of an exchange, from a fast local response to the longest time limit.
 */
const EXCHANGE_BUCKETS_SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];
/** Buckets for the duration of an update, which takes seconds in a test and minutes in real use. */
const UPDATE_BUCKETS_SECONDS = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 14_400, 86_400];
/**
 * Maximum number of label values, because a server can cause any number of them. Further values are
 * counted as `other`.
 */
const CAUSES_MAX = 200;
const OTHER = 'other';
const MS_PER_SECOND = 1000;

/** The response to a scrape. */
export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

/** The metrics of one run. The caller serves them over HTTP. */
export class FleetMetrics {
  readonly #registry = new Registry();
  readonly #registers = [this.#registry];
  readonly #causes = new Set<string>();
  /** Time of the offer for each device with an update in progress. */
  readonly #offeredMs = new Map<number, number>();
  #stage: string | undefined;

  readonly #devices = new Gauge({
    name: 'fleetbed_devices',
    help: 'Devices by state; the states add up to the fleet.',
    labelNames: ['state'],
    registers: this.#registers,
  });
  readonly #reached = new Gauge({
    name: 'fleetbed_devices_reached',
    help: 'Devices that have reached this step of the deployment or a later one.',
    labelNames: ['step'],
    registers: this.#registers,
  });
  readonly #sockets = new Gauge({
    name: 'fleetbed_sockets_open',
    help: 'Open WebSockets.',
    registers: this.#registers,
  });
  readonly #elapsed = new Gauge({
    name: 'fleetbed_elapsed_seconds',
    help: 'Time since the run began.',
    registers: this.#registers,
  });
  readonly #stages = new Gauge({
    name: 'fleetbed_stage',
    help: 'Stages of the plan: 1 for the current one, 0 for the others.',
    labelNames: ['stage'],
    registers: this.#registers,
  });
  readonly #exchanges = new Counter({
    name: 'fleetbed_exchanges_total',
    help: 'Finished requests, by status class or as unanswered.',
    labelNames: ['operation', 'outcome'],
    registers: this.#registers,
  });
  readonly #latency = new Histogram({
    name: 'fleetbed_exchange_duration_seconds',
    help: 'Time from when a request was due to the end of its response; answered requests only.',
    labelNames: ['operation'],
    buckets: EXCHANGE_BUCKETS_SECONDS,
    registers: this.#registers,
  });
  readonly #waiting = new Histogram({
    name: 'fleetbed_exchange_waiting_seconds',
    help: 'Part of the duration from when a request was due until it was sent.',
    labelNames: ['operation'],
    buckets: EXCHANGE_BUCKETS_SECONDS,
    registers: this.#registers,
  });
  readonly #service = new Histogram({
    name: 'fleetbed_exchange_service_seconds',
    help: 'Part of the duration from when a request was sent to the end of its response.',
    labelNames: ['operation'],
    buckets: EXCHANGE_BUCKETS_SECONDS,
    registers: this.#registers,
  });
  readonly #bytes = new Counter({
    name: 'fleetbed_bytes_total',
    help: 'Bytes of bodies and WebSocket messages; downloaded is a part of received.',
    labelNames: ['direction'],
    registers: this.#registers,
  });
  readonly #fixedRatePolls = new Counter({
    name: 'fleetbed_fixed_rate_polls_total',
    help: 'Polls at the fixed rate of the plan; late ones are a part of those sent.',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #errors = new Counter({
    name: 'fleetbed_errors_total',
    help: 'Requests without a response, or answered with 5xx, by cause.',
    labelNames: ['operation', 'cause'],
    registers: this.#registers,
  });
  readonly #socketsClosed = new Counter({
    name: 'fleetbed_sockets_closed_total',
    help: 'Websockets that closed before the end of the run, or were refused, by cause.',
    labelNames: ['cause'],
    registers: this.#registers,
  });
  readonly #violations = new Counter({
    name: 'fleetbed_violations_total',
    help: 'Exchanges of watched devices in which the server violated a requirement.',
    labelNames: ['requirement', 'operation'],
    registers: this.#registers,
  });
  readonly #states = new Counter({
    name: 'fleetbed_update_states_total',
    help: 'Update states that devices have entered.',
    labelNames: ['state'],
    registers: this.#registers,
  });
  readonly #updates = new Histogram({
    name: 'fleetbed_update_duration_seconds',
    help: 'Duration of an update from its offer to its end, by outcome.',
    labelNames: ['outcome'],
    buckets: UPDATE_BUCKETS_SECONDS,
    registers: this.#registers,
  });
  readonly #cpu = new Gauge({
    name: 'fleetbed_generator_cpu_ratio',
    help: 'Cores used by the process of the shard, averaged over the run.',
    labelNames: ['shard'],
    registers: this.#registers,
  });
  readonly #busy = new Gauge({
    name: 'fleetbed_generator_event_loop_busy_ratio',
    help: 'Share of the time during which the event loop of the process was busy.',
    labelNames: ['shard'],
    registers: this.#registers,
  });
  readonly #lag = new Gauge({
    name: 'fleetbed_generator_event_loop_lag_seconds',
    help: 'Event loop delay of the process, 99th percentile.',
    labelNames: ['shard'],
    registers: this.#registers,
  });
  readonly #memory = new Gauge({
    name: 'fleetbed_generator_memory_bytes',
    help: 'Peak memory of the process.',
    labelNames: ['shard'],
    registers: this.#registers,
  });
  readonly #lateness = new Gauge({
    name: 'fleetbed_schedule_lateness_seconds',
    help: 'Delay from when a device cycle was due to when it was sent, 99th percentile.',
    registers: this.#registers,
  });
  readonly #eventLines = new Counter({
    name: 'fleetbed_event_lines_total',
    help: 'Events written to the event stream, and events lost.',
    labelNames: ['outcome'],
    registers: this.#registers,
  });

  /** Accepts an event. It never waits. */
  readonly record = (event: FleetEvent): void => {
    if (event.kind === 'exchange') this.#recordExchange(event);
    else if (event.kind === 'update') this.#recordUpdateState(event);
    else if (event.kind === 'violation') {
      const { requirement, operation } = event;
      this.#violations.inc({ requirement, operation });
    } else if (event.kind === 'socket-closed' && event.cause !== RUN_ENDED) {
      this.#socketsClosed.inc({ cause: this.#bounded(event.cause) });
    }
  };

  /** Updates the metrics from a progress report of the run. */
  recordProgress(progress: FleetProgress): void {
    const { funnel, socketsOpen, elapsedMs, stage } = progress;
    this.#enterStage(stage);
    this.#recordGenerators(progress);
    this.#recordTraffic(progress);
    this.#fixedRatePolls.reset();
    for (const [outcome, polls] of Object.entries(progress.fixedRatePolls ?? {}))
      this.#fixedRatePolls.inc({ outcome }, polls);
    const { devices: _, offered, downloading, installing, rebooting, ...states } = funnel;
    for (const [state, count] of Object.entries(states)) {
      this.#devices.set({ state: state.replace(/[A-Z]/g, '-$&').toLowerCase() }, count);
    }
    const steps = { offered, downloading, installing, rebooting };
    for (const [step, count] of Object.entries(steps)) this.#reached.set({ step }, count);
    this.#sockets.set(socketsOpen);
    this.#elapsed.set(elapsedMs / MS_PER_SECOND);
  }

  /** Sets the counters of the event stream. */
  recordEventLines({ written, lost }: EventLinesCount): void {
    this.#eventLines.reset();
    this.#eventLines.inc({ outcome: 'written' }, written);
    this.#eventLines.inc({ outcome: 'lost' }, lost);
  }

  /** Returns the response to a scrape. */
  async exposition(): Promise<Exposition> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  #recordGenerators({ generators, latenessP99Ms }: FleetProgress): void {
    this.#lateness.set(latenessP99Ms / MS_PER_SECOND);
    for (const facts of generators) {
      const { shard, cpuUserShare, cpuSystemShare, eventLoopLagP99Ms } = facts;
      this.#cpu.set({ shard }, cpuUserShare + cpuSystemShare);
      this.#busy.set({ shard }, facts.loopBusyShare);
      this.#lag.set({ shard }, eventLoopLagP99Ms / MS_PER_SECOND);
      this.#memory.set({ shard }, facts.memoryMaxBytes);
    }
  }

  #recordTraffic({ traffic }: FleetProgress): void {
    if (traffic === undefined) return;
    const { sentBytes, receivedBytes, downloadedBytes } = traffic;
    this.#bytes.reset();
    this.#bytes.inc({ direction: 'sent' }, sentBytes);
    this.#bytes.inc({ direction: 'received' }, receivedBytes);
    this.#bytes.inc({ direction: 'downloaded' }, downloadedBytes);
  }

  #recordExchange(event: FleetEvent & { kind: 'exchange' }): void {
    const { operation, status, cause, elapsedMs, waitingMs } = event;
    if (status === undefined) {
      this.#exchanges.inc({ operation, outcome: 'unanswered' });
      this.#errors.inc({ operation, cause: this.#bounded(cause ?? OTHER) });
      return;
    }
    const outcome = `${Math.floor(status / 100)}xx`;
    this.#exchanges.inc({ operation, outcome });
    if (outcome === '5xx')
      this.#errors.inc({ operation, cause: this.#bounded(`status/${status}`) });
    this.#latency.observe({ operation }, elapsedMs / MS_PER_SECOND);
    if (waitingMs === undefined) return;
    this.#waiting.observe({ operation }, waitingMs / MS_PER_SECOND);
    this.#service.observe({ operation }, (elapsedMs - waitingMs) / MS_PER_SECOND);
  }

  #recordUpdateState({ device, state, atMs }: FleetEvent & { kind: 'update' }): void {
    this.#states.inc({ state });
    if (state === 'offered') this.#offeredMs.set(device, atMs);
    const offeredMs = this.#offeredMs.get(device);
    if (offeredMs === undefined || !isFinal(state)) return;
    this.#offeredMs.delete(device);
    this.#updates.observe({ outcome: state }, (atMs - offeredMs) / MS_PER_SECOND);
  }

  #enterStage(stage: string): void {
    const stageLabel = this.#bounded(stage);
    if (this.#stage !== undefined) this.#stages.set({ stage: this.#stage }, 0);
    this.#stage = stageLabel;
    this.#stages.set({ stage: stageLabel }, 1);
  }

  #bounded(text: string): string {
    if (this.#causes.has(text)) return text;
    if (this.#causes.size >= CAUSES_MAX) return OTHER;
    this.#causes.add(text);
    return text;
  }
}
