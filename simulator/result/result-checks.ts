/** The conformance checks of watched devices in a result. */
import * as v from 'valibot';
import type { Immutable } from './immutable.ts';

const text = v.string();
const number = v.pipe(v.number(), v.finite(), v.minValue(0));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const headers = v.record(text, text);

const violation = v.pipe(
  v.object({
    device: v.pipe(count, v.description('Index of the device.')),
    atMs: v.pipe(v.number(), v.finite(), v.description('Milliseconds since the Unix epoch.')),
    operation: text,
    stage: text,
    requestsPerSecond: v.pipe(
      number,
      v.description('Request rate of the whole fleet in the series row of the violation.'),
    ),
    expected: text,
    actual: text,
    request: v.object({ line: text, headers, body: v.exactOptional(text) }),
    response: v.exactOptional(v.object({ status: count, headers, body: v.exactOptional(text) })),
  }),
  v.description('An exchange that violated the requirement, with secrets masked.'),
);

const stageChecks = v.object({
  stage: text,
  judged: count,
  violated: count,
  requestsPerSecond: v.pipe(
    number,
    v.description('Request rate of the whole fleet, averaged over the stage.'),
  ),
});

const requirementChecks = v.object({
  requirement: text,
  sentence: text,
  judged: v.pipe(count, v.description('Exchanges that tested the requirement.')),
  violated: v.pipe(count, v.description('Tested exchanges that violated the requirement.')),
  stages: v.pipe(
    v.array(stageChecks),
    v.description('Stages in which the requirement was tested.'),
  ),
  firstViolation: v.exactOptional(violation),
  violations: v.pipe(
    v.array(v.tuple([v.pipe(v.number(), v.finite()), count])),
    v.description(
      'Periods in which the requirement was violated: start in milliseconds since the Unix epoch, and count.',
    ),
  ),
  violatedAt: v.exactOptional(
    v.pipe(
      v.object({ minPerSecond: number, maxPerSecond: number }),
      v.description('Request rates of the whole fleet in the series rows with a violation.'),
    ),
  ),
});

export const checksShape = v.pipe(
  v.object({
    devices: v.pipe(count, v.description('Devices whose exchanges were checked.')),
    exchanges: v.pipe(count, v.description('Exchanges that were checked.')),
    requirements: v.array(requirementChecks),
  }),
  v.description(
    'Requirements that the server met or violated under load, in a sample of its exchanges.',
  ),
);

/** The conformance checks of the watched devices. */
export type Checks = Immutable<v.InferOutput<typeof checksShape>>;
/** The check of one requirement. */
export type RequirementChecks = Checks['requirements'][number];
/** The first violation of a requirement. */
export type FirstViolation = NonNullable<RequirementChecks['firstViolation']>;
