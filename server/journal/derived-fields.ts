/** Fields that are derived from an entry on demand: its device, user and deployment. */
import { parsedJson } from '../../fixtures/base/json.ts';
import { isPollOperation, operationsById } from '../../fixtures/contract/operation-ids.ts';
import type { ExchangeRecord } from '../http/exchange-record.ts';
import { readIdentity } from '../rules/identity.ts';
import type { JournalEntry } from './entry.ts';

/** The part of a tenant that identifies devices and users. */
export interface TenantRecords {
  readonly store: {
    readonly devices: {
      find(id: string): { readonly identity: string } | undefined;
      findByIdentity(identity: string): { readonly id: string } | undefined;
    };
    readonly users: { find(id: string): { readonly email: string } | undefined };
  };
}

/** The device of an entry, as far as it is known. A device that asks to be accepted may have no ID yet. */
export interface EntryDevice {
  readonly id?: string;
  /** The identity as sent, usually JSON text. */
  readonly identity?: string;
}

/** Returns the device that sent the request or owns the socket, if any. */
export function deviceOf(entry: JournalEntry, { store }: TenantRecords): EntryDevice | undefined {
  if (entry.kind === 'unparsable') return undefined;
  const id = entry.kind === 'frame' ? entry.origin.deviceId : entry.deviceId;
  if (id !== undefined) {
    const identity = store.devices.find(id)?.identity;
    return { id, ...(identity !== undefined && { identity }) };
  }
  if (entry.kind !== 'exchange' || entry.operation !== 'post-auth-request') return undefined;
  const { id_data: identity } = jsonObject(entry.body);
  if (typeof identity !== 'string') return undefined;
  const parsedIdentity = readIdentity(identity);
  const device =
    'canonical' in parsedIdentity
      ? store.devices.findByIdentity(parsedIdentity.canonical)
      : undefined;
  return { ...(device && { id: device.id }), identity };
}

/** Returns the ID of the user that sent the request or owns the socket. */
export function userIdOf(entry: JournalEntry): string | undefined {
  if (entry.kind === 'unparsable') return undefined;
  return entry.kind === 'frame' ? entry.origin.userId : entry.userId;
}

/** Returns the ID of the entry's request. For a frame it is the ID of the handshake. */
export function requestIdOf(entry: JournalEntry): string {
  return entry.kind === 'frame' ? entry.origin.requestId : entry.requestId;
}

/** Returns the ID of the entry's operation. For a frame it is the operation of the handshake. */
export function operationOf(entry: JournalEntry): string | undefined {
  if (entry.kind === 'unparsable') return undefined;
  if (entry.kind === 'exchange') return entry.operation;
  return entry.origin.socket === 'device' ? 'connect' : 'connect-device';
}

/**
 * Returns the ID of the deployment that an exchange concerns: from its path, from the instructions
 * in the response, or of the new deployment.
 */
export function deploymentOf(record: ExchangeRecord): string | undefined {
  const row = operationsById.get(record.operation ?? '');
  if (!row) return undefined;
  if (isPollOperation(row)) {
    const { id } = record.status === 200 ? jsonObject(record.responseBody) : {};
    return typeof id === 'string' ? id : undefined;
  }
  if (row.deploymentRole === 'creates') return madeBy(record);
  const names = row.path.split('/');
  const at = names.findIndex(
    (name, index) =>
      name === '{deployment_id}' || (name === '{id}' && names[index - 1] === 'deployments'),
  );
  return at < 0 ? undefined : record.url.replace(/\?.*$/s, '').split('/')[at];
}

/** Returns the status that a device reported for its deployment; undefined for other entries. */
export function reportIn(entry: JournalEntry): string | undefined {
  if (entry.kind !== 'exchange' || entry.operation !== 'put-deployment-status') return undefined;
  const { status } = jsonObject(entry.body);
  return typeof status === 'string' ? status : undefined;
}

/** Returns the ID of the new deployment, from Location or from the body. */
function madeBy({ responseHeaders, responseBody }: ExchangeRecord): string | undefined {
  const at = responseHeaders.findIndex(
    (text, index) => index % 2 === 0 && String(text).toLowerCase() === 'location',
  );
  if (at >= 0)
    return String(responseHeaders[at + 1])
      .split('/')
      .at(-1);
  const { deployment_id: id } = jsonObject(responseBody);
  return typeof id === 'string' ? id : undefined;
}

/** Returns the members of a JSON body; empty if it is not an object. */
export function jsonObject(body: Buffer | string | undefined): Readonly<Record<string, unknown>> {
  if (body === undefined || body.length === 0) return {};
  const value = parsedJson(body.toString());
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
