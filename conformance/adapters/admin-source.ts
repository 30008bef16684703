/** The source of a run's user: the management API, hooks, or none. */
import { ManagementAdmin } from '../context/management-admin.ts';
import type { TargetAdmin } from '../context/target-admin.ts';
import type { Login } from '../target/setup.ts';
import type { TargetClient } from '../target/target.ts';

/** A user of the management API, commands that replace one, or the reason why there is neither. */
export type AdminSource = Login | { readonly kind: 'hooks'; readonly hooks: AdminHooks };

/** User commands that replace the management API. */
interface AdminHooks {
  /** Returns a user whose exchanges are recorded by the client. */
  adminOn(client: TargetClient): TargetAdmin;
}

/** Returns a user whose exchanges are recorded by the client; undefined if there is none. */
export function adminOn(source: AdminSource, client: TargetClient): TargetAdmin | undefined {
  if (source.kind === 'token') return new ManagementAdmin(client, source);
  return source.kind === 'hooks' ? source.hooks.adminOn(client) : undefined;
}
