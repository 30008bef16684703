/** Reads a fault plan from YAML or JSON, and locates each problem in the text. */
import { jsonSchemaOf } from '../../fixtures/base/json-schema.ts';
import { readYaml, type YamlProblem } from '../../fixtures/base/yaml-text.ts';
import { documentedPlanShape, type FaultRule, planShape } from './rule.ts';

const PLAN_MAX_BYTES = 262_144;

/** The rules of a plan, or its problems. */
export type ReadPlan =
  | { readonly rules: readonly FaultRule[] }
  | { readonly problems: readonly YamlProblem[] };

/**
 * Reads a plan. `isTaken` returns true for rule IDs that are in use. Rules without an ID are
 * numbered: `rule-1` is the first that is free.
 */
export function readPlan(text: string, isTaken: (id: string) => boolean = () => false): ReadPlan {
  if (Buffer.byteLength(text) > PLAN_MAX_BYTES) {
    const message = `the plan has more than ${PLAN_MAX_BYTES} bytes`;
    return { problems: [{ line: 1, column: 1, message }] };
  }
  const parseResult = readYaml(text, planShape);
  if ('problems' in parseResult) return parseResult;
  const { rules } = parseResult.content;
  const ids = rules.map(({ id }) => id);
  const problems = ids.flatMap((id, index) => {
    if (id === undefined || (!isTaken(id) && ids.indexOf(id) === index)) return [];
    const path = ['rules', index, 'id'];
    const message = `${path.join('.')}: the rule "${id}" already exists`;
    return [{ ...parseResult.positionOf(path), message }];
  });
  if (problems.length > 0) return { problems };
  let number = 0;
  const nextFree = (): string => {
    number += 1;
    const id = `rule-${number}`;
    return isTaken(id) || ids.includes(id) ? nextFree() : id;
  };
  return { rules: rules.map((rule) => ({ ...rule, id: rule.id ?? nextFree() })) };
}

/** Formats a problem as one line. */
export function problemText({ line, column, message }: YamlProblem): string {
  return `line ${line}, column ${column}: ${message}`;
}

/** Returns the JSON Schema of plans. */
export function planSchema(): object {
  return { title: 'Planned faults of fleetbed', ...jsonSchemaOf(documentedPlanShape) };
}
