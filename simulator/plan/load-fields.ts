/** Schemas of the load in a plan: stages, arrivals and incidents. */
import * as v from 'valibot';
import {
  duration,
  nonEmptyText,
  oneOf,
  rate,
  wholeNumber,
  withoutUndefined,
  yesOrNo,
} from './plan-values.ts';
import { backOff } from './policy.ts';

/** Events that occur at a fixed rate, in addition to the devices' cycles. */
const arrivalEvents = ['alerts', 'logs', 'first-contacts'] as const;
const incidentNames = [
  'power-cut',
  'reconnect-storm',
  'update-night',
  'token-expiry-week',
  'abort-deployment',
  'backoff-comparison',
] as const;

const STAGES_MAX = 1000;
const INCIDENTS_MAX = 100;
/** Highest rate of polls, and of each kind of arrivals, in events per second. */
export const ARRIVALS_PER_SECOND_MAX = 100_000;
const DEVICES_MAX = 1_000_000;

/**
 * `ramp`: the number of devices changes linearly. `hold`: it stays constant. `burst`: it jumps and
 * then falls back. `drain`: it falls to zero.
 */
const stageKinds = ['ramp', 'hold', 'burst', 'drain'] as const;

/** Schema of a stage of the load: one of `stageKinds` with its duration. */
export const stage = v.pipe(
  v.strictObject({
    ...v.entriesFromList(stageKinds, v.optional(duration(1))),
    /** Number of devices that are on at the end of a ramp, or throughout a burst. */
    devices: v.optional(wholeNumber(0, DEVICES_MAX)),
  }),
  v.check(
    (row) => stageKinds.filter((kind) => row[kind] !== undefined).length === 1,
    'must have exactly one of ramp, hold, burst and drain, with its duration',
  ),
  v.check(
    ({ ramp, burst, devices }) => ((ramp ?? burst) !== undefined) === (devices !== undefined),
    'must have devices if, and only if, it is a ramp or burst',
  ),
  v.transform(({ devices, ...lengths }) => {
    const kind = stageKinds.find((each) => lengths[each] !== undefined) ?? 'hold';
    return { kind, durationMs: lengths[kind] ?? 0, ...(devices !== undefined && { devices }) };
  }),
);

/** Schema of an incident: its kind, its time, and the affected devices. */
export const incident = v.pipe(
  v.strictObject({
    name: oneOf(incidentNames),
    /** Start of the incident, measured from the start of the run. */
    at: v.optional(duration(0), 0),
    /** Time window during which the devices are affected, or return. */
    within: v.optional(duration(0)),
    /** True: each device at a random time within the window; false: all devices at its end. */
    jitter: v.optional(yesOrNo),
    /** Duration of a power cut or of the network outage in a back-off comparison. */
    lasting: v.optional(duration(1)),
    /** Name of the only cohort that is affected. */
    cohort: v.optional(nonEmptyText),
    /** Index of the only device that is affected. */
    device: v.optional(wholeNumber(0, DEVICES_MAX)),
    /** The two back-offs to compare, in a plan without cohorts. */
    between: v.optional(v.pipe(v.array(backOff), v.length(2, 'must be a list of two back-offs'))),
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
    ({ name, lasting }) =>
      lasting === undefined || name === 'backoff-comparison' || name === 'power-cut',
    'must not have lasting unless it is a power-cut or a backoff-comparison',
  ),
  v.transform(({ name, at, within, lasting, ...same }) => ({
    name,
    atMs: at,
    ...withoutUndefined({ ...same, withinMs: within, lastingMs: lasting }),
  })),
);

/** Returns the name of a stage in the figures, such as `2 hold`. @param index from 0 */
export function stageName({ kind }: Pick<LoadStage, 'kind'>, index: number): string {
  return `${index + 1} ${kind}`;
}

/** Schema of the list of stages. They follow one another, and the run ends after the last one. */
export const stages = v.pipe(
  v.array(stage, 'must be a list of stages'),
  v.minLength(1, 'must have at least one stage'),
  v.maxLength(STAGES_MAX, `must have at most ${STAGES_MAX} stages`),
);

/** Schema of the rates of events that occur in addition to the devices' cycles. */
export const arrivals = v.pipe(
  v.strictObject(v.entriesFromList(arrivalEvents, v.optional(rate(ARRIVALS_PER_SECOND_MAX)))),
  v.transform((rates) =>
    arrivalEvents.flatMap((event) => {
      const perSecond = rates[event];
      return perSecond === undefined ? [] : [{ event, perSecond }];
    }),
  ),
);

export const incidents = v.pipe(
  v.array(incident, 'must be a list of incidents'),
  v.maxLength(INCIDENTS_MAX, `must have at most ${INCIDENTS_MAX} incidents`),
  v.check(
    (rows) => rows.filter(({ name }) => name === 'backoff-comparison').length <= 1,
    'must have at most one backoff-comparison',
  ),
);

export type LoadStage = v.InferOutput<typeof stage>;
export type Arrival = v.InferOutput<typeof arrivals>[number];
export type Incident = v.InferOutput<typeof incident>;
