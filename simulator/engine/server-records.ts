/** The server's records of a deployment: its list, its statistics, its audit log. */
import { deviceDeploymentStatuses } from '../../fixtures/contract/vocabulary.ts';
import type { ManagementClient } from '../client/management.ts';
import { StatusError } from '../network/errors.ts';
import type { Reconciliation } from '../result/result-devices.ts';

type StatisticsRow = Reconciliation['statistics'][number];
/** One of the server's records. */
export type ServerRecord = Reconciliation['sources'][number];

/** A device deployment as listed by the server. */
export interface ListedDeployment {
  readonly status: string;
  /** How often the list names the device. */
  readonly times: number;
}

/**
 * Returns the listed device deployments by device ID. @throws ClientError when the list cannot be
 * fetched
 */
export async function listedDeployments(
  management: ManagementClient,
  deploymentId: string,
): Promise<ReadonlyMap<string, ListedDeployment>> {
  const deployments = new Map<string, ListedDeployment>();
  for await (const page of management.deploymentDevices(deploymentId)) {
    for (const { id, status } of page) {
      deployments.set(id, { status, times: (deployments.get(id)?.times ?? 0) + 1 });
    }
  }
  return deployments;
}

/**
 * Returns where the statistics differ from the list; undefined where the server has none.
 * @throws ClientError when they cannot be fetched for another reason
 */
export async function statisticsDifferences(
  management: ManagementClient,
  deploymentId: string,
  deployments: ReadonlyMap<string, ListedDeployment>,
): Promise<StatisticsRow[] | undefined> {
  const stated = await unlessAbsent(management.deploymentStatistics(deploymentId));
  if (stated === undefined) return undefined;
  const listed = new Map<string, number>();
  for (const { status } of deployments.values()) listed.set(status, (listed.get(status) ?? 0) + 1);
  const statuses = [...new Set([...listed.keys(), ...Object.keys(stated)])].sort();
  return statuses.flatMap((status) => {
    const row = { deploymentId, status, listed: listed.get(status) ?? 0 };
    // Besides the statuses some servers include other figures, such as a total size.
    if (!knownStatuses.has(status) || row.listed === (stated[status] ?? 0)) return [];
    return [{ ...row, stated: stated[status] ?? 0 }];
  });
}

/**
 * Returns a difference when the audit log has the deployment's creation more than once; undefined
 * where there is no log or the user may not read it. An old entry may be gone: its absence is not a
 * difference.
 * @throws ClientError when it cannot be fetched for another reason
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
