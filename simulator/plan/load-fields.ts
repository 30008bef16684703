/** The load model of a plan as data: stages, arrivals and incidents. What they do is elsewhere. */
import * as v from 'valibot';
import {
  filled,
  milliseconds,
  oneOf,
  positiveNumber,
  wholeNumber,
  yesOrNo,
} from './plan-values.ts';
import { backOffFields } from './policy.ts';

/**
 * `ramp`: the number changes linearly; `burst`: it jumps, and falls back; `drain`: it goes to zero.
 */
const stageKinds = ['ramp', 'hold', 'burst', 'drain'] as const;
/** Events that happen on their own, regardless of the devices' cycles. */
export const arrivalEvents = ['alerts', 'logs', 'first-contacts'] as const;
export const incidentNames = [
  'power-cut',
  'reconnect-storm',
  'update-night',
  'token-expiry-week',
  'abort-deployment',
  'backoff-comparison',
] as const;

const STAGES_MAX = 1000;
const SCENES_MAX = 100;
const ARRIVALS_PER_SECOND_MAX = 100_000;
const DEVICES_MAX = 1_000_000;

const stageShape = v.pipe(
  v.strictObject({
    kind: oneOf(stageKinds),
    durationMs: milliseconds(1),
    /** Devices that are on at its end, or throughout a burst. */
    devices: v.optional(wholeNumber(0, DEVICES_MAX)),
  }),
  v.check(
    ({ kind, devices }) => (kind === 'ramp' || kind === 'burst') === (devices !== undefined),
    'must have devices if it is a ramp or burst, and only then',
  ),
);

const arrivalShape = v.strictObject({
  event: oneOf(arrivalEvents),
  perSecond: positiveNumber(ARRIVALS_PER_SECOND_MAX),
});

const sceneShape = v.pipe(
  v.strictObject({
    name: oneOf(incidentNames),
    /** Counts from the start of the run. */
    atMs: milliseconds(0),
    /** Time window in which every device is hit, or returns. */
    withinMs: v.optional(milliseconds(0)),
    /** At random within the window; false: all devices at its end. */
    jitter: v.optional(yesOrNo),
    /** Duration of a power or network outage. */
    lastingMs: v.optional(milliseconds(1)),
    /** The only cohort affected. */
    cohort: v.optional(filled),
    /** Index of the only device affected. */
    device: v.optional(wholeNumber(0, DEVICES_MAX)),
    /** The two back-offs of a back-off comparison without cohorts. */
    between: v.optional(
      v.pipe(v.array(backOffFields), v.length(2, 'must be a list of two back-offs')),
    ),
  }),
  v.check(
    ({ name, between }) => between === undefined || name === 'backoff-comparison',
    'must not have between unless it is a backoff-comparison',
  ),
  v.check(
    ({ name, device }) => device === undefined || name === 'power-cut',
    'must not have device unless it is a power-cut',
  ),
  v.check(
    ({ name, lastingMs }) =>
      lastingMs === undefined || name === 'backoff-comparison' || name === 'power-cut',
    'must not have lasting unless it is a power-cut or a backoff-comparison',
  ),
);

/** One after the other; the run ends with the last one. */
export const stagesShape = v.pipe(
  v.array(stageShape, 'must be a list of stages'),
  v.minLength(1, 'must have at least one stage'),
  v.maxLength(STAGES_MAX, `must have at most ${STAGES_MAX} stages`),
);

/** Independent events, in addition to the cycles of the devices. */
export const arrivalsShape = v.pipe(
  v.array(arrivalShape, 'must be an object of events and rates'),
  v.check(
    (rows) => new Set(rows.map(({ event }) => event)).size === rows.length,
    'must name each event once',
  ),
);

export const incidentsShape = v.pipe(
  v.array(sceneShape, 'must be a list of incidents'),
  v.maxLength(SCENES_MAX, `must have at most ${SCENES_MAX} incidents`),
  v.check(
    (rows) => rows.filter(({ name }) => name === 'backoff-comparison').length <= 1,
    'must have at most one backoff-comparison',
  ),
);

export type LoadStage = v.InferOutput<typeof stageShape>;

export type Arrival = v.InferOutput<typeof arrivalShape>;
export type Incident = v.InferOutput<typeof sceneShape>;
