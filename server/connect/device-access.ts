/** What a user may do with a connected device. */
import type { Tenant } from '../tenants/tenants.ts';
import type { RecordAct } from './acts.ts';
import type { Conversation, Failure } from './conversation.ts';

/** A user who turns to a device, both of one tenant. */
export interface DeviceAccess {
  readonly user: { readonly id: string; readonly email: string };
  readonly device: { readonly id: string; readonly identity: string };
  readonly tenant: Tenant;
}

/** Leads conversations with devices. */
export interface DeviceConversations {
  /**
   * Opens a session that the server leads. One that fails is ended; one that succeeds ends itself.
   * What is thrown other than by the conversation is thrown on.
   */
  converse<Result>(
    access: DeviceAccess,
    lead: (conversation: Conversation) => Promise<Result>,
  ): Promise<Result | Failure>;
  /** Writes acts of the user into the audit log. */
  recorderOf(access: DeviceAccess): RecordAct;
}
