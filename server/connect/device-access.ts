/** Operations of a user on a connected device. */
import type { Tenant } from '../tenants/tenants.ts';
import type { RecordAction } from './connect-actions.ts';
import type { DeviceSession, SessionFailure } from './device-session.ts';

/** A user who accesses a device, both of one tenant. */
export interface DeviceAccess {
  readonly user: { readonly id: string; readonly email: string };
  readonly device: { readonly id: string; readonly identity: string };
  readonly tenant: Tenant;
}

/** Runs sessions that the server itself holds with connected devices. */
export interface DeviceSessions {
  /**
   * Opens a session and calls `lead`, which must end the session when it succeeds. Ends the session
   * when `lead` fails. Rethrows errors that are not a DeviceSessionError.
   */
  runInSession<Result>(
    access: DeviceAccess,
    lead: (session: DeviceSession) => Promise<Result>,
  ): Promise<Result | SessionFailure>;
  /** Returns a recorder of the user's actions for the audit log. */
  recorderOf(access: DeviceAccess): RecordAction;
}
