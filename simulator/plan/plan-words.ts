/**
 * A plan as people write it, in a file or on a command line: the same names in both, lengths of
 * time such as `5s`, shares such as `steady=7`. What the words come to is in `plan-of-words.ts`.
 */
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { readYaml } from '../../fixtures/yaml-text.ts';
import { cohortWords } from './cohort.ts';
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
