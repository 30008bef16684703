/** Value schemas of a plan file, each with its conversion to the plan. */
import * as v from 'valibot';
import { durationMs, durationPattern } from '../../fixtures/duration.ts';
import { incidentNames } from './load-fields.ts';
import { filled, oneOf, share, wholeNumber, yesOrNo } from './plan-values.ts';
import { backOffKinds } from './policy.ts';

const durationSaid = 'must be a length of time such as 500ms, 30s or 5m (a bare number is seconds)';
/** A duration that has to be given. */
export const duration = v.pipe(
  v.union(
    [
      v.pipe(v.number(), v.minValue(0, durationSaid)),
      v.pipe(v.string(), v.regex(durationPattern, durationSaid)),
    ],
    durationSaid,
  ),
  v.check((value) => durationMs(String(value)) !== undefined, durationSaid),
  v.transform((value) => durationMs(String(value)) ?? 0),
);
/** A duration. */
export const optionalDuration = v.optional(duration);

/** For a network, milliseconds are as common as seconds: a bare number would be ambiguous. */
const linkDurationSaid = 'must be a length of time with its unit, such as 300ms or 1.5s';
const linkDuration = v.optional(
  v.pipe(
    v.string(linkDurationSaid),
    v.check((text) => /[a-z]$/.test(text) && durationMs(text) !== undefined, linkDurationSaid),
    v.transform((text) => durationMs(text) ?? 0),
  ),
);

const rateSaid = 'must be a rate per second, such as 20/s or 0.5';
/** A rate per second. */
export const rate = v.pipe(
  v.union([v.number(), v.pipe(v.string(), v.regex(/^\d+(\.\d+)?(\/s)?$/, rateSaid))], rateSaid),
  v.transform((value) => Number(String(value).replace('/s', ''))),
  v.gtValue(0, rateSaid),
);

const checkShareSaid = 'must be a share of the devices above 0, such as 1% or 0.01';
/** A share of the devices. */
export const checkShare = v.pipe(
  v.union(
    [v.number(), v.pipe(v.string(), v.regex(/^\d+(\.\d+)?%?$/, checkShareSaid))],
    checkShareSaid,
  ),
  v.transform((value) => {
    const number = Number(String(value).replace('%', ''));
    return String(value).endsWith('%') ? number / 100 : number;
  }),
  v.gtValue(0, checkShareSaid),
  v.maxValue(1, checkShareSaid),
);

/** A back-off. */
export const backOffWords = v.strictObject({
  kind: v.optional(oneOf(backOffKinds)),
  least: optionalDuration,
  most: optionalDuration,
  obeysRetryAfter: v.optional(yesOrNo),
});

type BackOffWords = v.InferOutput<typeof backOffWords>;

/** A network. */
export const linkWords = v.strictObject({
  latency: linkDuration,
  jitter: linkDuration,
  /** Share of the exchanges. */
  loss: v.optional(share),
  bytesPerSecond: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
});

type LinkWords = v.InferOutput<typeof linkWords>;

/** A stage of the load. */
export const stageWords = v.pipe(
  v.strictObject({
    ramp: optionalDuration,
    hold: optionalDuration,
    burst: optionalDuration,
    drain: optionalDuration,
    devices: v.optional(wholeNumber(0, 1_000_000)),
  }),
  v.check(
    ({ devices, ...kinds }) =>
      Object.values(kinds).filter((length) => length !== undefined).length === 1,
    'must be one of ramp, hold, burst and drain, with its length',
  ),
);

/** An incident. */
export const incidentWords = v.strictObject({
  name: v.pipe(
    v.string(),
    v.transform((name) => (name === 'herd-comparison' ? 'backoff-comparison' : name)),
    oneOf(incidentNames),
  ),
  at: v.optional(duration, 0),
  within: optionalDuration,
  jitter: v.optional(yesOrNo),
  lasting: optionalDuration,
  cohort: v.optional(filled),
  device: v.optional(wholeNumber(0, 1_000_000)),
  between: v.optional(v.array(backOffWords)),
});

const credentialsSaid = 'must be EMAIL:PASSWORD';
/** A user in one string, as in earlier versions. */
export const credentials = v.pipe(
  v.string(credentialsSaid),
  v.regex(/^[^\s:@]+@[^\s:@]+:[\s\S]+$/, credentialsSaid),
  v.transform((text) => {
    const colon = text.indexOf(':');
    return { email: text.slice(0, colon), password: text.slice(colon + 1) };
  }),
);

/** Converts a back-off to the plan's form. */
export function backOffOfWords({ kind, least, most, obeysRetryAfter }: BackOffWords) {
  return given({ kind, leastMs: least, mostMs: most, obeysRetryAfter });
}

/** Converts a network to the plan's form. */
export function linkOfWords({ latency, jitter, loss, bytesPerSecond }: LinkWords) {
  return given({ latencyMs: latency, jitterMs: jitter, lossShare: loss, bytesPerSecond });
}

/** Converts a stage to the plan's form. */
export function stageOfWords({ devices, ...lengths }: v.InferOutput<typeof stageWords>) {
  const [kind, durationMs] =
    Object.entries(lengths).find(([, length]) => length !== undefined) ?? [];
  return given({ kind, durationMs, devices });
}

/** Converts an incident to the plan's form. */
export function incidentOfWords(words: v.InferOutput<typeof incidentWords>) {
  const { at, within, lasting, between, ...same } = words;
  return given({
    ...same,
    atMs: at,
    withinMs: within,
    lastingMs: lasting,
    between: between?.map(backOffOfWords),
  });
}

/** Removes undefined members: a plan distinguishes absent from undefined. */
export function given<Members extends object>(members: Members): Partial<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Members>;
}
