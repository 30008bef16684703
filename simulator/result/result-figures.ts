/** The measurements in a result: latencies, responses, errors, stages, updates and time series. */
import * as v from 'valibot';
import type { Immutable } from './immutable.ts';

const text = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const milliseconds = v.pipe(v.number(), v.finite(), v.minValue(0));
const unixMs = v.pipe(v.number(), v.finite());

/**
 * Schema of the figures of a duration, including the histogram that is needed to merge them
 * exactly.
 */
export const figuresShape = v.object({
  count,
  p50Ms: milliseconds,
  p90Ms: milliseconds,
  p95Ms: milliseconds,
  p99Ms: milliseconds,
  p999Ms: milliseconds,
  maxMs: milliseconds,
  histogram: v.pipe(
    text,
    v.description(
      'HDR histogram in microseconds with three significant digits, in compressed V2 encoding, as base64.',
    ),
  ),
});

const operationLatency = v.pipe(
  v.object({
    operation: text,
    ...figuresShape.entries,
    waiting: v.exactOptional(
      v.pipe(
        figuresShape,
        v.description(
          'Part of the latency from when an exchange was due until its request was written to a ' +
            'connection: delay of the load generator, and wait for a connection.',
        ),
      ),
    ),
    service: v.exactOptional(
      v.pipe(
        figuresShape,
        v.description(
          'Rest of the latency, until the response was complete. The parts are known of every ' +
            'exchange, except those of failed workers.',
        ),
      ),
    ),
  }),
  v.description('Latency of answered exchanges, from when each was due.'),
);

const operationCount = v.object({
  operation: text,
  responses: v.pipe(
    v.record(text, count),
    v.description('Responses by status class, such as 2xx.'),
  ),
  unanswered: v.pipe(
    count,
    v.description('Exchanges without a response: the sum of the next four counts.'),
  ),
  timeouts: count,
  resets: v.pipe(count, v.description('Connections closed before the response was complete.')),
  refusedConnections: count,
  otherErrors: count,
  signatureRefusals: v.pipe(
    count,
    v.description('Responses with 401 that name the signature; also counted as 4xx.'),
  ),
  sentBytes: v.exactOptional(
    v.pipe(
      count,
      v.description(
        'Bytes of request bodies that were written to a connection, and of sent WebSocket ' +
          'messages. Headers, TLS and TCP are not counted.',
      ),
    ),
  ),
  receivedBytes: v.exactOptional(
    v.pipe(
      count,
      v.description(
        'Bytes of response bodies, whole and broken off, and of received WebSocket messages.',
      ),
    ),
  ),
});

export const errorShape = v.object({ operation: text, cause: text, count });

export const measuredShape = {
  latencies: v.array(operationLatency),
  operations: v.array(operationCount),
};

export const stageShape = v.pipe(
  v.object({
    name: text,
    startMs: unixMs,
    endMs: unixMs,
    lateness: v.pipe(
      v.object(figuresShape.entries),
      v.description(
        'Delay of exchanges with a planned time, from when each was due to when it was sent.',
      ),
    ),
    ...measuredShape,
  }),
  v.description('A stage of the run; an exchange belongs to the stage in which it ended.'),
);

const wholeUpdate = v.pipe(
  v.object({
    from: v.picklist(['offer', 'deployment']),
    outcome: v.picklist(['success', 'failure', 'aborted', 'already-installed']),
    ...figuresShape.entries,
  }),
  v.description(
    'Time from the offer, or from the creation of the deployment, to the acknowledged outcome.',
  ),
);
const updateStatus = v.pipe(
  v.object({ status: text, ...figuresShape.entries }),
  v.description('Time that devices spent in one state of their update.'),
);
export const updatesShape = v.object({
  whole: v.array(wholeUpdate),
  statuses: v.array(updateStatus),
});

/** Schema of the devices of a fleet by state. The counts add up to the number of devices. */
export const deviceCountsShape = v.object({
  pending: v.pipe(count, v.description('Not accepted by the server.')),
  idle: v.pipe(count, v.description('Accepted and offered nothing.')),
  updating: count,
  done: v.pipe(count, v.description('Outcome success or already-installed.')),
  failed: v.pipe(count, v.description('Outcome failure or aborted.')),
  off: v.pipe(count, v.description('Without power: by a stage, an incident or a behaviour.')),
  noContact: v.pipe(
    count,
    v.description('Without a response from the server, or not yet started.'),
  ),
});

const seriesRow = v.object({
  startMs: v.pipe(unixMs, v.description('Milliseconds since the Unix epoch.')),
  requests: count,
  errors: v.pipe(count, v.description('Unanswered exchanges and responses with 5xx.')),
  sentBytes: v.exactOptional(
    v.pipe(count, v.description('Bytes sent in the period, counted as in operations.')),
  ),
  receivedBytes: v.exactOptional(count),
  p50Ms: milliseconds,
  p99Ms: milliseconds,
  buckets: v.pipe(
    v.array(v.tuple([count, count])),
    v.description('Pairs of bucket and count; bucket b counts latencies up to 2^(b/4) us.'),
  ),
  devices: deviceCountsShape,
});
export const seriesShape = v.pipe(
  v.object({ widthMs: count, rows: v.array(seriesRow) }),
  v.description('Figures over time; each row covers more time the longer the run lasts.'),
);

/** Percentiles and histogram of a measured duration, in milliseconds. */
export type Figures = Immutable<v.InferOutput<typeof figuresShape>>;
/** Durations of the exchanges of one operation that got a response, in milliseconds. */
export type OperationLatency = Immutable<v.InferOutput<typeof operationLatency>>;
/** Number of exchanges of one operation by outcome. */
export type OperationCount = Immutable<v.InferOutput<typeof operationCount>>;
/**
 * Number of failures of one operation with one cause, such as `transport/ECONNREFUSED` or
 * `status/503`.
 */
export type ErrorCount = Immutable<v.InferOutput<typeof errorShape>>;
/** The figures of one stage. */
export type StageFigures = Immutable<v.InferOutput<typeof stageShape>>;
/** Durations of updates, in total and by status. */
export type UpdateFigures = Immutable<v.InferOutput<typeof updatesShape>>;
/** The time series of a run. */
export type Series = Immutable<v.InferOutput<typeof seriesShape>>;
/** Counts of devices by state. */
export type DeviceStateCounts = Immutable<v.InferOutput<typeof deviceCountsShape>>;
