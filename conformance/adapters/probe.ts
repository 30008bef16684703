/**
 * Finds out which parts of the API a target has. The probe sends a few requests that change
 * nothing: each lacks a token or is malformed, so that a server with the operation refuses it.
 */
import type { OperationId } from '../../fixtures/contract/operations.ts';
import { type Capability, operationsOf } from '../context/capabilities.ts';
import { ApiCaller } from '../target/call.ts';
import type { TargetExchange } from '../target/exchange.ts';
import type { HttpResponse } from '../target/response.ts';
import type { TargetClient } from '../target/target.ts';
import { TransportFailure } from '../target/transport-failure.ts';

/** The result of a probe. */
export interface ProbeResult {
  readonly found: 'offered' | 'missing' | 'unknown';
  /** The responses to the probe, in one sentence. */
  readonly evidence: string;
  readonly exchanges: readonly TargetExchange[];
}

/** Statuses of a server that does not know an operation. */
export const unknownStatuses: readonly number[] = [404, 405, 501];

const path = { id: '00000000-0000-4000-8000-000000000000' };
const link = { deployment_id: path.id, device_type: 'probe', device_id: path.id };

type CapabilityProbe = (caller: ApiCaller) => Promise<HttpResponse>;

/** For each operation of a part, a request that a server with the operation refuses. */
const probes: Readonly<Partial<Record<OperationId, CapabilityProbe>>> = {
  'post-next-deployment-v2': (caller) => caller.call('post-next-deployment-v2', { raw: '[' }),
  'get-update-control-map': (caller) => caller.call('get-update-control-map', { path }),
  'list-artifacts': (caller) => caller.call('list-artifacts'),
  'get-artifact': (caller) => caller.call('get-artifact', { path }),
  'get-artifact-link': (caller) => caller.call('get-artifact-link', { path }),
  'get-configuration': (caller) => caller.call('get-configuration'),
  'put-configuration': (caller) => caller.call('put-configuration', { raw: '[' }),
  'download-configuration': (caller) => caller.call('download-configuration', { path: link }),
  connect: (caller) => caller.call('connect'),
  'post-alerts': (caller) => caller.call('post-alerts', { raw: '[' }),
  'post-monitor-configuration': (caller) => caller.call('post-monitor-configuration', { raw: '[' }),
  'patch-attributes': (caller) => caller.call('patch-attributes', { raw: '[' }),
  'put-attributes': (caller) => caller.call('put-attributes', { raw: '[' }),
  'list-audit-logs': (caller) => caller.call('list-audit-logs', { query: { per_page: 1 } }),
  'export-audit-logs': (caller) => caller.call('export-audit-logs', { query: { limit: 1 } }),
};

/**
 * Checks if the target has a part. The part is missing if the target answers each of its operations
 * like an unknown path.
 * @param caller the user if there is one, since a gateway may check the token first
 */
export async function probePart(
  part: Capability,
  client: TargetClient,
  caller = new ApiCaller(client),
): Promise<ProbeResult> {
  const statuses = new Map<OperationId, number>();
  try {
    for (const id of operationsOf(part)) {
      const response = await probes[id]?.(caller);
      if (response) statuses.set(id, response.status);
    }
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    const { exchanges } = client.exchangeList;
    return { found: 'unknown', evidence: `no response: ${error.message}`, exchanges };
  }
  const isMissing = [...statuses.values()].every((status) => unknownStatuses.includes(status));
  return {
    found: isMissing ? 'missing' : 'offered',
    evidence: [...statuses].map(([id, status]) => `${id} was answered with ${status}`).join(', '),
    exchanges: client.exchangeList.exchanges,
  };
}
