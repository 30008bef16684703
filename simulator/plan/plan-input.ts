/**
 * Parses a plan as users write it, in a file or on a command line. Both use the same names and
 * notations, such as `5s` for a duration and `steady=7` for a share.
 */
import * as v from 'valibot';
import { jsonSchemaOf } from '../../fixtures/base/json-schema.ts';
import { readYaml, type YamlProblem } from '../../fixtures/base/yaml-text.ts';
import { cohort } from './cohort.ts';
import { deploymentPhase } from './deployment-phases.ts';
import { incident, stage } from './load-fields.ts';
import { entriesOf } from './option-row.ts';
import { options } from './options.ts';
import type { PlanInput } from './plan.ts';
import { backOff, network } from './policy.ts';

const fileShape = v.pipe(
  v.strictObject(entriesOf(options)),
  v.title('A plan of fleetbed simulate'),
  v.description(
    'YAML or JSON. Every member is also a command-line option; the option takes precedence.',
  ),
);

/** All names that a plan file may use. */
export const planWordNames = Object.keys(options) as readonly (keyof typeof options)[];

/** Returns the JSON Schema of a plan file, draft 7. */
export function planSchema(): object {
  const schema = jsonSchemaOf(fileShape);
  return { $id: 'urn:fleetbed:plan:1', ...schema };
}

/**
 * Thrown for values of a plan file that cannot be parsed; each problem begins with its line and
 * column.
 */
export class PlanInputError extends Error {
  override readonly name = 'PlanInputError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/**
 * Parses a plan file and returns its values unconverted.
 * @throws PlanInputError with line and column of every error
 */
export function readPlanInput(text: string): PlanInput {
  return checkedText(
    text,
    fileShape,
    ({ line, column, message }) => `${line}:${column} ${message}`,
  );
}

/** Schemas of the composite members of a plan that users can write as one line of text. */
const parts = { backOff, network, cohort, deploymentPhase, stage, incident } as const;
/** The name of a composite member of a plan. */
export type PartName = keyof typeof parts;

/**
 * Parses a composite member from a string such as `ramp: 30s, devices: 100` and returns its values
 * unconverted. A first word without a colon is the value of `name`.
 * @throws PlanInputError
 */
export function readPlanPart(name: PartName, text: string): object {
  const yamlText = /^\s*[\w.-]+\s*(,|$)/.test(text) ? `name: ${text}` : text;
  return checkedText(`{ ${yamlText} }`, parts[name], ({ message }) => message);
}

function checkedText(
  text: string,
  shape: v.GenericSchema,
  faultOf: (fault: YamlProblem) => string,
): object {
  const parsing = readYaml(text, shape);
  if ('problems' in parsing) throw new PlanInputError([...new Set(parsing.problems.map(faultOf))]);
  const input = readYaml(text, v.looseObject({}));
  return 'content' in input ? input.content : {};
}
