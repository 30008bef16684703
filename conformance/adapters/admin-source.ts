/** The source of a run's user: the management API, hooks, or none. */

import { ManagementAdmin } from '../context/management-admin.ts';
import type { TargetAdmin } from '../context/target-admin.ts';
import type { Login } from '../target/setup.ts';
import type { TargetSession } from '../target/target.ts';

/** A user of the management API, commands that replace one, or the reason why there is neither. */
export type AdminSource = Login | { readonly kind: 'hooks'; readonly hooks: AdminHooks };

/** User commands that replace the management API. */
interface AdminHooks {
  /** Returns a user whose exchanges are recorded on the session. */
  adminOn(session: TargetSession): TargetAdmin;
}

/** Returns a user whose exchanges are recorded in the session; undefined if there is none. */
export function adminOn(source: AdminSource, session: TargetSession): TargetAdmin | undefined {
  if (source.kind === 'token') return new ManagementAdmin(session, source);
  return source.kind === 'hooks' ? source.hooks.adminOn(session) : undefined;
}
