/** Rows of parts: how they are queried and read. Not the verbs, which are in `deployment-devices.ts` and `device-history.ts`. */
import {
  type DeviceDeploymentStatus,
  deviceDeploymentStatuses,
  finalStatuses,
} from '../../fixtures/contract/vocabulary.ts';
import { deployment, type StoredDeployment } from './deployments.ts';
import { type Condition, equal } from './filter.ts';
import { number, numberOrNothing, text, textOrNothing } from './row.ts';
import type { SqlRow } from './sql.ts';

/** One device's part, together with its deployment. */
export interface StoredPart {
  readonly deployment: StoredDeployment;
  readonly deviceId: string;
  readonly status: DeviceDeploymentStatus;
  readonly substate?: string;
  /** What the device said of itself when it was offered the deployment, as canonical text. */
  readonly request?: string;
  readonly artifactId?: string;
  /** How often the device was offered the deployment: once, and once for each retry. */
  readonly attempts: number;
  readonly offeredMs?: number;
  readonly startedMs?: number;
  readonly finishedMs?: number;
  readonly hasLog: boolean;
}

/** The statuses in which a part is over, and all others, as SQL lists them. */
export const finals = finalStatuses.map((status) => `'${status}'`).join(', ');
export const unfinished = deviceDeploymentStatuses
  .filter((status) => !finalStatuses.includes(status))
  .map((status) => `'${status}'`)
  .join(', ');
/** Every part that a query names `p`, together with its deployment `d`. */
export const partQuery = `SELECT d.*, p.device_id, p.status AS part_status, p.substate, p.request,
    p.artifact_id, p.attempts, p.offered_ms, p.started_ms, p.finished_ms AS part_finished_ms,
    p.log IS NOT NULL AS has_log
  FROM deployment_devices p JOIN deployments d ON d.seq = p.deployment_seq`;

/** Conditions behind the words that users filter parts by. */
const groupConditions: Readonly<Record<string, Condition>> = {
  active: [`p.status IN (${unfinished})`],
  finished: [`p.status IN (${finals})`],
  pause: ["p.status LIKE 'pause_%'"],
};

/** A condition on the status of `p` by a status or a word for several; present when `status` is. */
export function statusCondition(status: string | undefined): Condition | undefined {
  const byWord = status === undefined ? undefined : groupConditions[status];
  return byWord ?? equal('p.status', status);
}

/** Reads a part out of a row of `partQuery`. */
export function part(row: SqlRow): StoredPart {
  const substate = textOrNothing(row, 'substate');
  const request = textOrNothing(row, 'request');
  const artifactId = textOrNothing(row, 'artifact_id');
  const offeredMs = numberOrNothing(row, 'offered_ms');
  const startedMs = numberOrNothing(row, 'started_ms');
  const finishedMs = numberOrNothing(row, 'part_finished_ms');
  return {
    deployment: deployment(row),
    deviceId: text(row, 'device_id'),
    status: text(row, 'part_status') as DeviceDeploymentStatus,
    attempts: number(row, 'attempts'),
    hasLog: number(row, 'has_log') === 1,
    ...(substate !== undefined && { substate }),
    ...(request !== undefined && { request }),
    ...(artifactId !== undefined && { artifactId }),
    ...(offeredMs !== undefined && { offeredMs }),
    ...(startedMs !== undefined && { startedMs }),
    ...(finishedMs !== undefined && { finishedMs }),
  };
}
