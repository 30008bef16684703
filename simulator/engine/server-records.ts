/** What the server has written down of a deployment: its list, its statistics, its audit log. */
import { deviceDeploymentStatuses } from '../../fixtures/contract/vocabulary.ts';
import type { ManagementClient } from '../client/management.ts';
import { StatusError } from '../network/errors.ts';
import type { Reconciliation } from '../result/result-devices.ts';

type StatisticsRow = Reconciliation['statistics'][number];
/** One of the server's records. */
export type ServerRecord = Reconciliation['books'][number];

/** A device's part as the list has it. */
export interface ListedPart {
  readonly status: string;
  /** How often the list names the device. */
  readonly times: number;
}

/** Device id to part. @throws ClientError when the list cannot be had */
export async function listedParts(
  management: ManagementClient,
  deploymentId: string,
): Promise<ReadonlyMap<string, ListedPart>> {
  const parts = new Map<string, ListedPart>();
  for await (const page of management.deploymentDevices(deploymentId)) {
    for (const { id, status } of page) {
      parts.set(id, { status, times: (parts.get(id)?.times ?? 0) + 1 });
    }
  }
  return parts;
}

/**
 * Where the statistics differ from the list; undefined where the server keeps none.
 * @throws ClientError when they cannot be had for another reason
 */
export async function statisticsDifferences(
  management: ManagementClient,
  deploymentId: string,
  parts: ReadonlyMap<string, ListedPart>,
): Promise<StatisticsRow[] | undefined> {
  const stated = await unlessAbsent(management.deploymentStatistics(deploymentId));
  if (stated === undefined) return undefined;
  const listed = new Map<string, number>();
  for (const { status } of parts.values()) listed.set(status, (listed.get(status) ?? 0) + 1);
  const statuses = [...new Set([...listed.keys(), ...Object.keys(stated)])].sort();
  return statuses.flatMap((status) => {
    const row = { deploymentId, status, listed: listed.get(status) ?? 0 };
    // Beside the statuses some servers state other figures, such as a total size.
    if (!knownStatuses.has(status) || row.listed === (stated[status] ?? 0)) return [];
    return [{ ...row, stated: stated[status] ?? 0 }];
  });
}

/**
 * Whether the audit log has the deployment's creation more than once; undefined where there is none
 * or the user may not read it. An old entry may be gone: none at all is no difference.
 * @throws ClientError when it cannot be had for another reason
 */
export async function auditDifferences(
  management: ManagementClient,
  deploymentId: string,
): Promise<StatisticsRow[] | undefined> {
  const entries = await unlessAbsent(management.auditEntriesOf(deploymentId));
  if (entries === undefined) return undefined;
  const stated = entries.filter(({ action }) => action === 'create').length;
  return stated > 1 ? [{ deploymentId, status: CREATED, listed: 1, stated }] : [];
}

const CREATED = 'created (audit log)';

const knownStatuses = new Set<string>(deviceDeploymentStatuses);

const absences = new Set([401, 402, 403, 404, 405, 501]);

async function unlessAbsent<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof StatusError && absences.has(error.status)) return undefined;
    throw error;
  }
}
