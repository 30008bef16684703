/** Adds planned faults to a tenant. */
import type { YamlProblem } from '../../../fixtures/base/yaml-text.ts';
import type { FaultPlans } from '../../faults/fault-plans.ts';
import { problemText, readPlan } from '../../faults/plan-text.ts';
import { RULES_MAX } from '../../faults/rule.ts';

/** The IDs of the added rules, or the error with its positions in the text. */
type AddedPlan =
  | { readonly added: string[] }
  | { readonly error: string; readonly problems?: readonly YamlProblem[] };

/** Adds the rules of a plan in YAML or JSON. An error in one rule refuses the whole plan. */
export function addPlan(faults: FaultPlans, text: string): AddedPlan {
  const plan = readPlan(text, (id) => faults.has(id));
  if ('problems' in plan)
    return { error: plan.problems.map(problemText).join('; '), problems: plan.problems };
  if (faults.size + plan.rules.length > RULES_MAX) {
    return { error: `more than ${RULES_MAX} rules, the maximum; remove some first` };
  }
  faults.add(plan.rules);
  return { added: plan.rules.map(({ id }) => id) };
}
