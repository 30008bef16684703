/**
 * Queries and reads rows of device deployments. The operations on them are in
 * `device-deployments.ts` and `device-history.ts`.
 */
import type { DeviceDeploymentStatus } from '../../fixtures/contract/vocabulary.ts';
import {
  type DeviceDeployment,
  isStatusGroup,
  retriedStatus,
  statusGroups,
} from '../rules/device-deployment.ts';
import type { DeviceDeploymentFacts } from '../rules/device-deployment-choice.ts';
import { deployment, deploymentColumns, type StoredDeployment } from './deployments.ts';
import { equal, type SqlCondition } from './engine/filter.ts';
import { number, optionalNumber, optionalText, text } from './engine/row.ts';
import type { SqlRow, SqlValue } from './engine/sql.ts';

/** A device deployment with its deployment. */
export interface StoredDeviceDeployment extends DeviceDeployment {
  readonly deployment: StoredDeployment;
  readonly deviceId: string;
  readonly hasLog: boolean;
}

/** A device deployment with the facts that decide whether it is served. */
export type DeviceDeploymentWithFacts = StoredDeviceDeployment & DeviceDeploymentFacts;

/** The final statuses and all others, as SQL lists. */
export const finalStatusesSql = sqlList(statusGroups.finished);
export const nonFinalStatusesSql = sqlList(statusGroups.active);
/**
 * The rule `mayTryAgain` in SQL, because a deployment may have thousands of device deployments to
 * count. A test compares both.
 */
export const mayTryAgainSql = `dd.status = '${retriedStatus}' AND dd.retries_left > 0`;
const columns = `${deploymentColumns('d')}, dd.device_id, dd.status AS device_deployment_status, dd.substate, dd.artifact_id,
  dd.attempts, dd.retries_left, dd.offered_ms, dd.started_ms, dd.finished_ms AS device_deployment_finished_ms,
  dd.log IS NOT NULL AS has_log`;
const tables = 'FROM device_deployments dd JOIN deployments d ON d.seq = dd.deployment_seq';
/** Selects device deployments as `p`, joined with their deployment `d`. */
export const deviceDeploymentQuery = `SELECT ${columns}, dd.poll_data ${tables}`;
/**
 * As `deviceDeploymentQuery`, but without the data that the device sent, which may be a mebibyte.
 */
export const queryWithoutPollData = `SELECT ${columns}, NULL AS poll_data ${tables}`;

/**
 * Returns a condition on the status of `p` by a status or a group of statuses; undefined without
 * `status`.
 */
export function statusCondition(status: string | undefined): SqlCondition | undefined {
  return status !== undefined && isStatusGroup(status)
    ? [`dd.status IN (${sqlList(statusGroups[status])})`]
    : equal('dd.status', status);
}

function sqlList(statuses: readonly DeviceDeploymentStatus[]): string {
  return statuses.map((status) => `'${status}'`).join(', ');
}

/** Reads a device deployment from a row of `deviceDeploymentQuery`. */
export function deviceDeployment(row: SqlRow): StoredDeviceDeployment {
  // Every member is present, even if undefined: rules copy this object, and V8 is slow when a copy
  // gets new members.
  return {
    deployment: deployment(row),
    deviceId: text(row, 'device_id'),
    status: text(row, 'device_deployment_status') as DeviceDeploymentStatus,
    attempts: number(row, 'attempts'),
    retriesLeft: number(row, 'retries_left'),
    hasLog: number(row, 'has_log') === 1,
    substate: optionalText(row, 'substate'),
    pollData: optionalText(row, 'poll_data'),
    artifactId: optionalText(row, 'artifact_id'),
    offeredMs: optionalNumber(row, 'offered_ms'),
    startedMs: optionalNumber(row, 'started_ms'),
    finishedMs: optionalNumber(row, 'device_deployment_finished_ms'),
  };
}

/** The columns of a state, as assignments of `stateValues`. */
export const stateColumns = `status = ?, substate = ?, poll_data = ?, artifact_id = ?, attempts = ?,
  retries_left = ?, offered_ms = ?, started_ms = ?, finished_ms = ?`;

/** Returns the values of a state in the order of `stateColumns`. */
export function stateValues(state: DeviceDeployment): readonly SqlValue[] {
  return [
    state.status,
    state.substate ?? null,
    state.pollData ?? null,
    state.artifactId ?? null,
    state.attempts,
    state.retriesLeft,
    state.offeredMs ?? null,
    state.startedMs ?? null,
    state.finishedMs ?? null,
  ];
}
