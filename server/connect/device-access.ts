/** What a user may do with a connected device. */
import type { Tenant } from '../tenants/tenants.ts';
import type { RecordAct } from './acts.ts';
import type { DeviceSession, Failure } from './device-session.ts';

/** A user who turns to a device, both of one tenant. */
export interface DeviceAccess {
  readonly user: { readonly id: string; readonly email: string };
  readonly device: { readonly id: string; readonly identity: string };
  readonly tenant: Tenant;
}

/** Leads sessions with devices. */
export interface DeviceSessions {
  /**
   * Opens a session that the server leads. One that fails is ended; one that succeeds ends itself.
   * What is thrown other than by the session is thrown on.
   */
  inSession<Result>(
    access: DeviceAccess,
    lead: (session: DeviceSession) => Promise<Result>,
  ): Promise<Result | Failure>;
  /** Writes acts of the user into the audit log. */
  recorderOf(access: DeviceAccess): RecordAct;
}
