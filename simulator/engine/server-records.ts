/**
 * Reads the server's records of a deployment: its list of devices, its statistics and its audit
 * log.
 */
import { deviceDeploymentStatuses } from '../../fixtures/contract/vocabulary.ts';
import type { ManagementClient } from '../api-client/management.ts';
import { StatusError } from '../network/errors.ts';
import type { Reconciliation } from '../result/result-devices.ts';

type StatisticsRow = Reconciliation['statistics'][number];
/** Name of one of the server's records. */
export type ServerRecord = Reconciliation['sources'][number];

/** The server's record of a deployment on a device. */
export interface ListedDeployment {
  readonly status: string;
  /** Number of times that the list contains the device. */
  readonly times: number;
}

/**
 * Returns the server's list of a deployment, by device ID.
 * @throws ClientError when the list cannot be read
 */
export async function listDeviceDeployments(
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
 * Returns the differences between the server's statistics and its list; undefined when the server
 * has no statistics.
 * @throws ClientError when the statistics cannot be read for another reason
 */
export async function statisticsDifferences(
  management: ManagementClient,
  deploymentId: string,
  deployments: ReadonlyMap<string, ListedDeployment>,
): Promise<StatisticsRow[] | undefined> {
  const statistics = await unlessAbsent(management.deploymentStatistics(deploymentId));
  if (statistics === undefined) return undefined;
  const listedCounts = new Map<string, number>();
  for (const { status } of deployments.values())
    listedCounts.set(status, (listedCounts.get(status) ?? 0) + 1);
  const statuses = [...new Set([...listedCounts.keys(), ...Object.keys(statistics)])].sort();
  return statuses.flatMap((status) => {
    const row = { deploymentId, status, inList: listedCounts.get(status) ?? 0 };
    // Some servers add other figures to the statistics, such as a total size.
    if (!knownStatuses.has(status) || row.inList === (statistics[status] ?? 0)) return [];
    return [{ ...row, inStatistics: statistics[status] ?? 0 }];
  });
}

/**
 * Returns a difference when the audit log contains the creation of the deployment more than once.
 * Returns undefined when there is no audit log or the user may not read it. A missing entry is
 * no difference, because old entries may have been deleted.
 * @throws ClientError when the log cannot be read for another reason
 */
export async function auditDifferences(
  management: ManagementClient,
  deploymentId: string,
): Promise<StatisticsRow[] | undefined> {
  const entries = await unlessAbsent(management.auditEntriesOf(deploymentId));
  if (entries === undefined) return undefined;
  const createdCount = entries.filter(({ action }) => action === 'create').length;
  return createdCount > 1
    ? [{ deploymentId, status: CREATED, inList: 1, inStatistics: createdCount }]
    : [];
}

const CREATED = 'created (audit log)';

const knownStatuses = new Set<string>(deviceDeploymentStatuses);

const absences = new Set([401, 402, 403, 404, 405, 501]);

async function unlessAbsent<HttpResponse>(
  response: Promise<HttpResponse>,
): Promise<HttpResponse | undefined> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof StatusError && absences.has(error.status)) return undefined;
    throw error;
  }
}
