/**
 * Parses a plan as users write it, in a file or on a command line: the same names in both,
 * durations such as `5s`, shares such as `steady=7`. `plan-of-words.ts` converts it to the plan
 * itself.
 */
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { readYaml } from '../../fixtures/yaml-text.ts';
import { cohortWords } from './cohort.ts';
import { deploymentPhaseWords } from './deployment-phases.ts';
import { wordEntries } from './option-row.ts';
import { options } from './options.ts';
import { backOffWords, credentials, incidentWords, linkWords, stageWords } from './word-values.ts';

const words = wordEntries(options);

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
    // Names used by earlier versions.
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

/** Plan-file values with durations in milliseconds. */
export type PlanWords = v.InferOutput<typeof planWordsShape> & {
  /** A user's email and password, with which earlier versions accepted devices. */
  readonly acceptWith?: v.InferOutput<typeof credentials> | undefined;
};

/** All names of a plan file. */
export const planWordNames = Object.keys(words) as readonly (keyof typeof words)[];

/** Returns the JSON Schema of a plan file, draft 7. */
export function planSchema(): object {
  const schema = toJsonSchema(planWordsShape, { typeMode: 'input', errorMode: 'ignore' });
  return { $id: 'urn:fleetbed:plan:1', ...schema };
}

/** Thrown for plan-file values that cannot be parsed; each fault begins with line and column. */
export class PlanWordsError extends Error {
  override readonly name = 'PlanWordsError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('; '));
    this.faults = faults;
  }
}

/** Parses a plan file. @throws PlanWordsError with line and column of every fault */
export function readPlanWords(text: string): PlanWords {
  const read = readYaml(text, readWordsShape);
  if ('content' in read) return read.content;
  const faults = read.faults.map(({ line, column, message }) => `${line}:${column} ${message}`);
  throw new PlanWordsError(faults);
}

/** Composite members of a plan, in command-line form. */
const parts = {
  backOff: backOffWords,
  link: linkWords,
  cohort: cohortWords,
  deploymentPhase: deploymentPhaseWords,
  stage: stageWords,
  incident: incidentWords,
} as const;
type Part = keyof typeof parts;

/**
 * Parses one such member from a text like `ramp: 30s, devices: 100`; a first word alone is the
 * name.
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
