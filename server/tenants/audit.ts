/** Builds and writes the entries of the audit log. Spec: AuditLog entry */
import { charactersIn, shortenText } from '../../fixtures/base/characters.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import type { AuditLog } from '../../fixtures/contract/resources.ts';
import type { AuditAction, WideAuditAction } from '../../fixtures/contract/vocabulary.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store/store.ts';

type Actor = AuditLog['actor'];
type AuditedObject = AuditLog['object'];

/** Returns the user as the actor of an audit entry. */
export function userActor(user: { id: string; email: string }): Actor {
  return { id: user.id, type: 'user', email: user.email };
}

/** Returns the device as the actor of an audit entry. */
export function deviceActor(device: { id: string; identity: string }): Actor {
  return { id: device.id, type: 'device', identity_data: device.identity };
}

/** Returns the device as the object of an audit entry. */
export function deviceObject(device: { id: string; identity: string }): AuditedObject {
  return {
    id: device.id,
    type: 'device',
    device: { id: device.id, identity_data: device.identity },
  };
}

/** Returns the user as the object of an audit entry. */
export function userObject(user: { id: string; email: string }): AuditedObject {
  return { id: user.id, type: 'user', user: { email: user.email } };
}

/**
 * Returns the tenant as the object of an audit entry. Changes of things that belong to the whole
 * tenant, such as a role, are recorded as changes of the tenant.
 */
export function tenantObject({ id, name }: { id: string; name: string }): AuditedObject {
  return { id, type: 'tenant', tenant: { id, name } };
}

/** Returns the deployment as the object of an audit entry. */
export function deploymentObject(deployment: {
  id: string;
  name: string;
  artifactName: string;
}): AuditedObject {
  return {
    id: deployment.id,
    type: 'deployment',
    deployment: { name: deployment.name, artifact_name: deployment.artifactName },
  };
}

/** An action to be recorded in the audit log. */
export interface AuditedAction {
  readonly actor: Actor;
  /** The action in the contract's vocabulary. */
  readonly action: AuditAction;
  /**
   * The action in the wider vocabulary of servers in the field; absent when it has no separate
   * word.
   */
  readonly wideAction?: WideAuditAction;
  readonly object: AuditedObject;
  /** Description of the change, for people. */
  readonly change?: string;
  /**
   * Returns the members that differ in the wider vocabulary. Called only under its dialect, because
   * it may be slow.
   */
  readonly wideEntry?: () => { readonly object?: AuditedObject; readonly change?: string };
}

/** The store and settings with which an entry is written. */
type AuditContext = {
  readonly store: Pick<Store, 'auditLogs'>;
  readonly nowMs: number;
  readonly settings: Pick<Settings, 'dialects'>;
};

/** Writes an entry to the audit log. The dialect wide-audit-actions selects the vocabulary. */
export function audit({ store, nowMs, settings }: AuditContext, act: AuditedAction): void {
  const { wideAction, wideEntry, ...entry } = act;
  const isWide = settings.dialects.has('wide-audit-actions');
  const wide = isWide && { ...(wideAction && { action: wideAction }), ...wideEntry?.() };
  const all = { timeMs: nowMs, ...entry, ...wide };
  const { change } = all;
  store.auditLogs.append(change === undefined ? all : { ...all, change: boundChange(change) });
}

/** Truncates a long description, because a page of the log has up to 500 entries. */
function boundChange(change: string): string {
  const max = limits.auditChangeMaxCharacters;
  const shortenedChange = shortenText(change, max);
  return shortenedChange === change
    ? change
    : `${shortenedChange} (${charactersIn(change)} characters)`;
}
