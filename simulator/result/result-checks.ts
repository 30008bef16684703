/** The checks of a sample of the fleet, as in a result. */
import * as v from 'valibot';
import type { Immutable } from './immutable.ts';

const text = v.string();
const number = v.pipe(v.number(), v.finite(), v.minValue(0));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const headers = v.record(text, text);

const breach = v.pipe(
  v.object({
    device: v.pipe(count, v.description('Index of the device.')),
    atMs: v.pipe(v.number(), v.finite(), v.description('Milliseconds since the Unix epoch.')),
    operation: text,
    phase: text,
    requestsPerSecond: v.pipe(
      number,
      v.description('Of the whole fleet, in the row of the series in which it happened.'),
    ),
    expected: text,
    seen: text,
    request: v.object({ line: text, headers, body: v.exactOptional(text) }),
    answer: v.exactOptional(v.object({ status: count, headers, body: v.exactOptional(text) })),
  }),
  v.description('An exchange that broke the requirement; secrets are masked.'),
);

const phaseChecks = v.object({
  phase: text,
  judged: count,
  broken: count,
  requestsPerSecond: v.pipe(number, v.description('Of the whole fleet, over the whole phase.')),
});

const requirementChecks = v.object({
  requirement: text,
  sentence: text,
  judged: v.pipe(count, v.description('Exchanges that decided it.')),
  broken: v.pipe(count, v.description('Of those, the ones that broke it.')),
  phases: v.pipe(v.array(phaseChecks), v.description('Phases in which it was decided.')),
  firstBreach: v.exactOptional(breach),
  breaches: v.pipe(
    v.array(v.tuple([v.pipe(v.number(), v.finite()), count])),
    v.description('Start of a stretch in which it broke, since the Unix epoch, and how often.'),
  ),
  brokenAt: v.exactOptional(
    v.pipe(
      v.object({ minPerSecond: number, maxPerSecond: number }),
      v.description("Requests of the whole fleet in the series' rows in which it broke."),
    ),
  ),
});

export const checksShape = v.pipe(
  v.object({
    devices: v.pipe(count, v.description('Devices that were watched.')),
    exchanges: v.pipe(count, v.description('Their exchanges.')),
    requirements: v.array(requirementChecks),
  }),
  v.description('Which requirements the server kept under load, by the exchanges of a sample.'),
);

/** The checks of a sample. */
export type Checks = Immutable<v.InferOutput<typeof checksShape>>;
/** The check of one requirement. */
export type RequirementChecks = Checks['requirements'][number];
/** The first breach of a requirement. */
export type Breach = NonNullable<RequirementChecks['firstBreach']>;
