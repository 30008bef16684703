/** The entries of the audit log: who did what to what. Spec: AuditLog entry */
import { charactersIn, shortened } from '../../fixtures/characters.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import type { AuditLog } from '../../fixtures/contract/resources.ts';
import type { AuditAction, WideAuditAction } from '../../fixtures/contract/vocabulary.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store/store.ts';

type Actor = AuditLog['actor'];
type AuditedObject = AuditLog['object'];

/** The user as the actor of an audit entry. */
export function userActor(user: { id: string; email: string }): Actor {
  return { id: user.id, type: 'user', email: user.email };
}

/** The device as the actor of an audit entry. */
export function deviceActor(device: { id: string; identity: string }): Actor {
  return { id: device.id, type: 'device', identity_data: device.identity };
}

/** The device as the object of an audit entry. */
export function deviceObject(device: { id: string; identity: string }): AuditedObject {
  return {
    id: device.id,
    type: 'device',
    device: { id: device.id, identity_data: device.identity },
  };
}

/** The user as the object of an audit entry. */
export function userObject(user: { id: string; email: string }): AuditedObject {
  return { id: user.id, type: 'user', user: { email: user.email } };
}

/** A tenant as object; what belongs to all of it, such as a role, is audited as a change of it. */
export function tenantObject({ id, name }: { id: string; name: string }): AuditedObject {
  return { id, type: 'tenant', tenant: { id, name } };
}

/** The deployment as the object of an audit entry. */
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

/** An act that the audit log records. */
export interface AuditedAction {
  readonly actor: Actor;
  /** The action in the contract's vocabulary. */
  readonly action: AuditAction;
  /** The action in the wider vocabulary of servers in the field, if it has a separate word. */
  readonly wideAction?: WideAuditAction;
  readonly object: AuditedObject;
  /** What became different, for people. */
  readonly change?: string;
  /** What else an entry in the field's vocabulary has otherwise; it may be long to make. */
  readonly wideEntry?: () => { readonly object?: AuditedObject; readonly change?: string };
}

/** Where entries go, and in which vocabulary. */
type AuditContext = {
  readonly store: Pick<Store, 'auditLogs'>;
  readonly nowMs: number;
  readonly settings: Pick<Settings, 'dialects'>;
};

/** Writes the entry before the answer goes out; the dialect wide-audit-actions chooses the words. */
export function audit({ store, nowMs, settings }: AuditContext, act: AuditedAction): void {
  const { wideAction, wideEntry, ...entry } = act;
  const isWide = settings.dialects.has('wide-audit-actions');
  const wide = isWide && { ...(wideAction && { action: wideAction }), ...wideEntry?.() };
  const all = { timeMs: nowMs, ...entry, ...wide };
  const { change } = all;
  store.auditLogs.append(change === undefined ? all : { ...all, change: bounded(change) });
}

/** What is long is looked up in what was changed itself: a page of the log has 500 entries. */
function bounded(change: string): string {
  const most = limits.auditChangeMaxCharacters;
  const cut = shortened(change, most);
  return cut === change ? change : `${cut} (${charactersIn(change)} characters)`;
}
