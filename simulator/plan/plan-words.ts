/**
 * Reads a plan as users write it, in a file or on a command line: the same names in both, durations
 * such as `5s`, shares such as `steady=7`.
 */

import * as v from 'valibot';
import { jsonSchemaOf } from '../../fixtures/json-schema.ts';
import { readYaml, type YamlProblem } from '../../fixtures/yaml-text.ts';
import { cohort } from './cohort.ts';
import { deploymentPhase } from './deployment-phases.ts';
import { incident, stage } from './load-fields.ts';
import { entriesOf } from './option-row.ts';
import { options } from './options.ts';
import type { PlanWords } from './plan.ts';
import { backOff, link } from './policy.ts';

const fileShape = v.pipe(
  v.strictObject(entriesOf(options)),
  v.title('A plan of fleetbed simulate'),
  v.description(
    'YAML or JSON. Every member is also a command-line option; the option takes precedence.',
  ),
);

/** All names of a plan file. */
export const planWordNames = Object.keys(options) as readonly (keyof typeof options)[];

/** Returns the JSON Schema of a plan file, draft 7. */
export function planSchema(): object {
  const schema = jsonSchemaOf(fileShape);
  return { $id: 'urn:fleetbed:plan:1', ...schema };
}

/** Thrown for plan-file values that cannot be parsed; each error begins with line and column. */
export class PlanWordsError extends Error {
  override readonly name = 'PlanWordsError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/** Reads a plan file, as it is written. @throws PlanWordsError with line and column of every error */
export function readPlanWords(text: string): PlanWords {
  return checkedText(
    text,
    fileShape,
    ({ line, column, message }) => `${line}:${column} ${message}`,
  );
}

/** Composite members of a plan, in command-line form. */
const parts = { backOff, link, cohort, deploymentPhase, stage, incident } as const;
/** The name of a composite member of a plan. */
export type PartName = keyof typeof parts;

/**
 * Reads such a member from a text like `ramp: 30s, devices: 100`, as it is written; a first word
 * alone is the name.
 * @throws PlanWordsError
 */
export function readPlanPart(name: PartName, text: string): object {
  const named = /^\s*[\w.-]+\s*(,|$)/.test(text) ? `name: ${text}` : text;
  return checkedText(`{ ${named} }`, parts[name], ({ message }) => message);
}

function checkedText(
  text: string,
  shape: v.GenericSchema,
  faultOf: (fault: YamlProblem) => string,
): object {
  const checked = readYaml(text, shape);
  if ('problems' in checked) throw new PlanWordsError([...new Set(checked.problems.map(faultOf))]);
  const written = readYaml(text, v.looseObject({}));
  return 'content' in written ? written.content : {};
}
