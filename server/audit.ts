/** The entries of the audit log: who did what to what, in the contract's vocabulary. Spec: AuditLog entry */
import type { AuditLog } from '../fixtures/contract/resources.ts';
import type { AuditAction } from '../fixtures/contract/vocabulary.ts';
import type { RequestContext } from './http/endpoint.ts';

type Actor = AuditLog['actor'];
type AuditedObject = AuditLog['object'];

/** A user as actor. */
export function userActor(user: { id: string; email: string }): Actor {
  return { id: user.id, type: 'user', email: user.email };
}

/** A device as actor. */
export function deviceActor(device: { id: string; identity: string }): Actor {
  return { id: device.id, type: 'device', identity_data: device.identity };
}

/** A device as object. */
export function deviceObject(device: { id: string; identity: string }): AuditedObject {
  return {
    id: device.id,
    type: 'device',
    device: { id: device.id, identity_data: device.identity },
  };
}

/** A deployment as object. */
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

/** What happened. */
export interface AuditedAct {
  readonly actor: Actor;
  readonly action: AuditAction;
  readonly object: AuditedObject;
  /** What became different, for people. */
  readonly change?: string;
}

/** Writes the entry before the answer goes out. */
export function audit(context: Pick<RequestContext, 'store' | 'nowMs'>, act: AuditedAct): void {
  context.store.auditLogs.append({ timeMs: context.nowMs, ...act });
}
