/** From where a run has its operator: the management API, hooks, or nowhere. */

import { ManagementOperator } from '../context/management-operator.ts';
import type { Operator } from '../context/operator.ts';
import type { Login } from '../runner/setup.ts';
import type { Session } from '../target/target.ts';

/** A user of the management API, commands that stand in for one, or why there is neither. */
export type OperatorSource = Login | { readonly kind: 'hooks'; readonly hooks: OperatorHooks };

/** Commands of the user that stand in for the management API. */
interface OperatorHooks {
  /** An operator whose exchanges are recorded on the session. */
  operatorOn(session: Session): Operator;
}

/** An operator on that line; undefined where the target has none. */
export function operatorOn(source: OperatorSource, session: Session): Operator | undefined {
  if (source.kind === 'token') return new ManagementOperator(session, source.token);
  return source.kind === 'hooks' ? source.hooks.operatorOn(session) : undefined;
}
