/** Each device's part in a deployment. Spec: States and transitions */
import {
  type DeviceDeploymentStatus,
  deviceDeploymentStatuses,
  finalStatuses,
  type ReportableStatus,
} from '../../fixtures/contract/vocabulary.ts';
import { deployment, type StoredDeployment } from './deployments.ts';
import { type Condition, filterBy } from './filter.ts';
import { bounds, type Page } from './page.ts';
import { number, numberOrNothing, text, textOrNothing } from './row.ts';
import type { Sql, SqlRow } from './sql.ts';

/** One device's part, together with its deployment. */
export interface StoredPart {
  readonly deployment: StoredDeployment;
  readonly deviceId: string;
  readonly status: DeviceDeploymentStatus;
  readonly substate?: string;
  /** What the device said of itself when it was offered the deployment, as canonical text. */
  readonly request?: string;
  readonly artifactId?: string;
  readonly offeredMs?: number;
  readonly startedMs?: number;
  readonly finishedMs?: number;
  readonly hasLog: boolean;
}

/** What is settled when a part is first served. */
export interface Offer {
  readonly request: string;
  readonly artifactId?: string;
  readonly nowMs: number;
}

const finals = finalStatuses.map((status) => `'${status}'`).join(', ');
const unfinished = deviceDeploymentStatuses
  .filter((status) => !finalStatuses.includes(status))
  .map((status) => `'${status}'`)
  .join(', ');
const partQuery = `SELECT d.*, p.device_id, p.status AS part_status, p.substate, p.request,
    p.artifact_id, p.offered_ms, p.started_ms, p.finished_ms AS part_finished_ms,
    p.log IS NOT NULL AS has_log
  FROM deployment_devices p JOIN deployments d ON d.seq = p.deployment_seq`;

/** Conditions behind the words that users filter a deployment's devices by. */
const groupConditions: Readonly<Record<string, Condition>> = {
  active: [`p.status IN (${unfinished})`],
  finished: [`p.status IN (${finals})`],
  pause: ["p.status LIKE 'pause_%'"],
};

/** The verbs for parts. */
export class DeploymentDeviceStore {
  readonly #sql: Sql;
  /** Devices that may have something to be served; all others are answered without a query. */
  readonly #mayHaveWork = new Set<string>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** False when no deployment can be waiting for the device; memory only. */
  mayHaveWork(deviceId: string): boolean {
    return this.#mayHaveWork.has(deviceId);
  }

  /** Notes that the device has been given something to do. */
  expectWork(deviceIds: readonly string[]): void {
    for (const id of deviceIds) this.#mayHaveWork.add(id);
  }

  /** Notes that nothing is waiting for the device. */
  expectNothing(deviceId: string): void {
    this.#mayHaveWork.delete(deviceId);
  }

  /** The device's part in a deployment that it was offered. */
  findOffered(deploymentId: string, deviceId: string): StoredPart | undefined {
    const part = this.find(deploymentId, deviceId);
    return part?.offeredMs === undefined ? undefined : part;
  }

  find(deploymentId: string, deviceId: string): StoredPart | undefined {
    const row = this.#sql.first(`${partQuery} WHERE d.id = ? AND p.device_id = ?`, [
      deploymentId,
      deviceId,
    ]);
    return row && part(row);
  }

  /** The oldest part that the device was offered and has not finished. */
  findActive(deviceId: string): StoredPart | undefined {
    const row = this.#sql.first(
      `${partQuery} WHERE p.device_id = ? AND p.offered_ms IS NOT NULL
         AND p.status IN (${unfinished}) ORDER BY p.deployment_seq LIMIT 1`,
      [deviceId],
    );
    return row && part(row);
  }

  /** The oldest part not yet offered, of a deployment newer than the last one finished. */
  findWaiting(deviceId: string): StoredPart | undefined {
    const row = this.#sql.first(
      `${partQuery} WHERE p.device_id = ? AND p.offered_ms IS NULL AND p.status = 'pending'
         AND p.deployment_seq > coalesce((SELECT max(f.deployment_seq) FROM deployment_devices f
           WHERE f.device_id = p.device_id AND f.offered_ms IS NOT NULL
             AND f.status IN (${finals})), 0)
       ORDER BY p.deployment_seq LIMIT 1`,
      [deviceId],
    );
    return row && part(row);
  }

  /** Records that the part was served, with the artifact chosen for the device. */
  offer(of: StoredPart, offer: Offer): void {
    this.#sql.run(
      `UPDATE deployment_devices SET request = ?, artifact_id = ?,
         offered_ms = coalesce(offered_ms, ?) WHERE deployment_seq = ? AND device_id = ?`,
      [offer.request, offer.artifactId ?? null, offer.nowMs, of.deployment.seq, of.deviceId],
    );
  }

  /** Moves a part to a status that the server or a user decides. */
  settle(of: StoredPart, status: DeviceDeploymentStatus, nowMs: number): void {
    this.#sql.atomically(() => {
      this.#setStatus(of, status, nowMs);
      this.#refreshFinished(of.deployment.seq, nowMs);
    });
  }

  /** Records a device's report; an absent or empty substate leaves the former one. */
  report(
    of: StoredPart,
    report: { status: ReportableStatus; substate?: string | undefined },
    nowMs: number,
  ): void {
    this.#sql.atomically(() => {
      this.#setStatus(of, report.status, nowMs);
      if (report.substate) {
        this.#sql.run(
          'UPDATE deployment_devices SET substate = ? WHERE deployment_seq = ? AND device_id = ?',
          [report.substate, of.deployment.seq, of.deviceId],
        );
      }
      this.#refreshFinished(of.deployment.seq, nowMs);
    });
    this.#mayHaveWork.add(of.deviceId);
  }

  /** Replaces the part's log. */
  saveLog(of: StoredPart, log: string): void {
    this.#sql.run(
      'UPDATE deployment_devices SET log = ? WHERE deployment_seq = ? AND device_id = ?',
      [log, of.deployment.seq, of.deviceId],
    );
  }

  findLog(deploymentId: string, deviceId: string): string | undefined {
    const row = this.#sql.first(
      `SELECT p.log FROM deployment_devices p JOIN deployments d ON d.seq = p.deployment_seq
       WHERE d.id = ? AND p.device_id = ?`,
      [deploymentId, deviceId],
    );
    return row && textOrNothing(row, 'log');
  }

  /** Aborts every unfinished part of a deployment. */
  abortAll(of: StoredDeployment, nowMs: number): void {
    this.#settleWhere('deployment_seq = ?', of.seq, { status: 'aborted', nowMs });
    this.#refreshFinished(of.seq, nowMs);
  }

  /** Ends every unfinished part of a device. */
  endAllOf(deviceId: string, status: 'aborted' | 'decommissioned', nowMs: number): void {
    const affected = this.#sql.all(
      `SELECT deployment_seq FROM deployment_devices
       WHERE device_id = ? AND status IN (${unfinished})`,
      [deviceId],
    );
    this.#settleWhere('device_id = ?', deviceId, { status, nowMs });
    for (const row of affected) this.#refreshFinished(number(row, 'deployment_seq'), nowMs);
  }

  /** How many parts are in each status. */
  statistics(of: StoredDeployment): Map<string, number> {
    const rows = this.#sql.all(
      'SELECT status, count(*) AS n FROM deployment_devices WHERE deployment_seq = ? GROUP BY status',
      [of.seq],
    );
    return new Map(rows.map((row) => [text(row, 'status'), number(row, 'n')]));
  }

  /** Parts of a deployment by device id, all or those in a status or group of statuses. */
  list(of: StoredDeployment, status: string | undefined, page: Page): StoredPart[] {
    const { where, values } = partFilter(of, status);
    const query = `${partQuery} ${where} ORDER BY p.device_id LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [...values, ...bounds(page)]).map(part);
  }

  count(of: StoredDeployment, status: string | undefined): number {
    const { where, values } = partFilter(of, status);
    const row = this.#sql.first(
      `SELECT count(*) AS n FROM deployment_devices p
       JOIN deployments d ON d.seq = p.deployment_seq ${where}`,
      values,
    );
    return row ? number(row, 'n') : 0;
  }

  #setStatus(of: StoredPart, status: DeviceDeploymentStatus, nowMs: number): void {
    this.#sql.run(
      `UPDATE deployment_devices SET status = ?, started_ms = coalesce(started_ms, ?),
         finished_ms = ? WHERE deployment_seq = ? AND device_id = ?`,
      [
        status,
        nowMs,
        finalStatuses.includes(status) ? nowMs : null,
        of.deployment.seq,
        of.deviceId,
      ],
    );
  }

  #settleWhere(
    condition: string,
    value: string | number,
    { status, nowMs }: { status: DeviceDeploymentStatus; nowMs: number },
  ): void {
    this.#sql.run(
      `UPDATE deployment_devices SET status = ?, finished_ms = ?
       WHERE ${condition} AND status IN (${unfinished})`,
      [status, nowMs, value],
    );
  }

  #refreshFinished(seq: number, nowMs: number): void {
    this.#sql.run(
      `UPDATE deployments SET finished_ms = CASE WHEN EXISTS (
           SELECT 1 FROM deployment_devices WHERE deployment_seq = ? AND status IN (${unfinished}))
         THEN NULL ELSE coalesce(finished_ms, ?) END WHERE seq = ?`,
      [seq, nowMs, seq],
    );
  }
}

function partFilter(of: StoredDeployment, status: string | undefined) {
  const byStatus = status === undefined ? undefined : groupConditions[status];
  return filterBy(
    ['p.deployment_seq = ?', of.seq],
    byStatus ?? (status === undefined ? undefined : ['p.status = ?', status]),
  );
}

function part(row: SqlRow): StoredPart {
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
    hasLog: number(row, 'has_log') === 1,
    ...(substate !== undefined && { substate }),
    ...(request !== undefined && { request }),
    ...(artifactId !== undefined && { artifactId }),
    ...(offeredMs !== undefined && { offeredMs }),
    ...(startedMs !== undefined && { startedMs }),
    ...(finishedMs !== undefined && { finishedMs }),
  };
}
