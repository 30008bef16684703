/**
 * A plan as people write it, in a file or on a command line: the same names in both, lengths of
 * time such as `5s`, shares such as `steady=7`. What the words come to is in `plan-of-words.ts`.
 */
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { keyTypes } from '../../fixtures/contract/vocabulary.ts';
import { durationMs, durationPattern } from '../../fixtures/duration.ts';
import { readYaml } from '../../fixtures/yaml-text.ts';
import { arrivalEvents, incidentNames } from './load-fields.ts';
import { filled, oneOf, share, weight, wholeNumber, yesOrNo } from './plan-values.ts';
import { backOffKinds, downloads, phases } from './policy.ts';
import { thresholdsShape } from './thresholds-shape.ts';

const durationSaid = 'must be a length of time such as 500ms, 30s or 5m (a bare number is seconds)';
const duration = v.pipe(
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
const optionalDuration = v.optional(duration);

/** Of a network, milliseconds are meant as often as seconds: a bare number could be either. */
const linkDurationSaid = 'must be a length of time with its unit, such as 300ms or 1.5s';
const linkDuration = v.optional(
  v.pipe(
    v.string(linkDurationSaid),
    v.check((text) => /[a-z]$/.test(text) && durationMs(text) !== undefined, linkDurationSaid),
    v.transform((text) => durationMs(text) ?? 0),
  ),
);

const rateSaid = 'must be a rate per second, such as 20/s or 0.5';
const rate = v.pipe(
  v.union([v.number(), v.pipe(v.string(), v.regex(/^\d+(\.\d+)?(\/s)?$/, rateSaid))], rateSaid),
  v.transform((value) => Number(String(value).replace('/s', ''))),
  v.gtValue(0, rateSaid),
);

const checkShareSaid = 'must be a share of the devices above 0, such as 1% or 0.01';
const checkShare = v.pipe(
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

const backOffWords = v.strictObject({
  kind: v.optional(oneOf(backOffKinds)),
  least: optionalDuration,
  most: optionalDuration,
  obeysRetryAfter: v.optional(yesOrNo),
});

const linkWords = v.strictObject({
  latency: linkDuration,
  jitter: linkDuration,
  /** Share of the exchanges. */
  loss: v.optional(share),
  bytesPerSecond: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
});

/** What a cohort may say otherwise than the whole. */
const cohortPart = {
  keys: v.optional(v.strictObject(v.entriesFromList(keyTypes, v.optional(weight, 0)))),
  behaviour: v.optional(v.record(v.string(), weight, 'must be an object of names and weights')),
  behaviourParameter: v.optional(
    v.record(
      v.string(),
      v.record(v.string(), v.number()),
      'must be an object of behaviours and their parameters',
    ),
  ),
  poll: optionalDuration,
  pollJitter: v.optional(share),
  phase: v.optional(oneOf(phases)),
  inventory: optionalDuration,
  connect: v.optional(yesOrNo),
  download: v.optional(oneOf(downloads)),
  backOff: v.optional(backOffWords),
  link: v.optional(linkWords),
};

const cohortWords = v.strictObject({ name: filled, weight: v.optional(weight, 1), ...cohortPart });

const stageWords = v.pipe(
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

const incidentWords = v.strictObject({
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
  between: v.optional(v.array(backOffWords)),
});

const credentialsSaid = 'must be EMAIL:PASSWORD';
const credentials = v.pipe(
  v.string(credentialsSaid),
  v.regex(/^[^\s:@]+@[^\s:@]+:[\s\S]+$/, credentialsSaid),
  v.transform((text) => {
    const colon = text.indexOf(':');
    return { email: text.slice(0, colon), password: text.slice(colon + 1) };
  }),
);

/** Every word of a plan; each is also an option of the command line, by the same name. */
const words = {
  url: v.optional(filled),
  devices: v.optional(wholeNumber(1, 1_000_000)),
  seed: v.optional(v.pipe(v.union([v.string(), v.number()]), v.transform(String))),
  ...cohortPart,
  cohort: v.optional(v.array(cohortWords)),
  /** Files, as seen from the folder in which the command runs. */
  behaviourFile: v.optional(v.array(filled)),
  ramp: optionalDuration,
  stage: v.optional(v.array(stageWords)),
  arrivals: v.optional(v.strictObject(v.entriesFromList(arrivalEvents, v.optional(rate)))),
  incident: v.optional(v.array(incidentWords)),
  duration: optionalDuration,
  iterations: v.optional(wholeNumber(1, 1_000_000_000)),
  until: v.optional(v.literal('settled', 'must be settled or absent')),
  drain: optionalDuration,
  threshold: v.optional(thresholdsShape),
  abortOnThreshold: v.optional(yesOrNo),
  checkShare: v.optional(checkShare),
  tenantToken: v.optional(filled),
  headerPrefix: v.optional(filled),
  accept: v.optional(yesOrNo),
  email: v.optional(filled),
  password: v.optional(filled),
  token: v.optional(filled),
  deploy: v.optional(filled),
  deploymentName: v.optional(filled),
  deviceType: v.optional(filled),
  idPrefix: v.optional(filled),
  /** A JSON object as a text, with places such as `{index}`. */
  idData: v.optional(filled),
  idDataCsv: v.optional(filled),
  rsaPool: v.optional(wholeNumber(1, 4096)),
  rsaBits: v.optional(v.picklist([2048, 3072], 'must be 2048 or 3072')),
  rsaPoolFolder: v.optional(filled),
  keyFolder: v.optional(filled),
  state: v.optional(filled),
  ledger: v.optional(filled),
  requestTimeLimit: optionalDuration,
  /** Files, as seen from the folder in which the command runs. */
  ca: v.optional(filled),
  cert: v.optional(filled),
  key: v.optional(filled),
  sourceAddresses: v.optional(v.array(filled)),
};

const planWordsShape = v.pipe(
  v.strictObject(words),
  v.title('A plan of fleetbed simulate'),
  v.description(
    'YAML or JSON. Every member is also an option, which takes precedence over the file.',
  ),
);

const readWordsShape = v.pipe(
  v.strictObject({
    ...words,
    // As earlier versions called them.
    baseUrl: words.url,
    scene: words.incident,
    scenes: words.incident,
    incidents: words.incident,
    acceptWith: v.optional(credentials),
  }),
  v.transform(({ baseUrl, scene, scenes, incidents, ...rest }): PlanWords => {
    const url = rest.url ?? baseUrl;
    const incident = rest.incident ?? incidents ?? scenes ?? scene;
    return { ...rest, ...(url !== undefined && { url }), ...(incident && { incident }) };
  }),
);

/** The words of a plan with lengths of time in milliseconds. */
export type PlanWords = v.InferOutput<typeof planWordsShape> & {
  /** A user's e-mail and password, by which earlier versions accepted devices. */
  readonly acceptWith?: v.InferOutput<typeof credentials> | undefined;
};

/** The names of all words. */
export const planWordNames = Object.keys(words) as readonly (keyof typeof words)[];

/** The JSON Schema of a plan file, draft 7. */
export function planSchema(): object {
  const schema = toJsonSchema(planWordsShape, { typeMode: 'input', errorMode: 'ignore' });
  return { $id: 'urn:fleetbed:plan:1', ...schema };
}

/** Words that cannot be read; each fault begins with line and column. */
export class PlanWordsError extends Error {
  override readonly name = 'PlanWordsError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('; '));
    this.faults = faults;
  }
}

/** The words of a plan file. @throws PlanWordsError with line and column of every fault */
export function readPlanWords(text: string): PlanWords {
  const read = readYaml(text, readWordsShape);
  if ('content' in read) return read.content;
  const faults = read.faults.map(({ line, column, message }) => `${line}:${column} ${message}`);
  throw new PlanWordsError(faults);
}

/** Members of a plan that hold others, as a command line spells each one. */
const parts = {
  backOff: backOffWords,
  link: linkWords,
  cohort: cohortWords,
  stage: stageWords,
  incident: incidentWords,
} as const;
type Part = keyof typeof parts;

/**
 * One such member from a text like `ramp: 30s, devices: 100`; a first word alone is the name.
 * @throws PlanWordsError
 */
export function readPlanPart<Name extends Part>(
  name: Name,
  text: string,
): v.InferOutput<(typeof parts)[Name]> {
  const named = /^\s*[\w.-]+\s*(,|$)/.test(text) ? `name: ${text}` : text;
  const read = readYaml(`{ ${named} }`, parts[name]);
  if ('content' in read) return read.content;
  throw new PlanWordsError([...new Set(read.faults.map(({ message }) => message))]);
}
