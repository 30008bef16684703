/** Stores the state of each device in a deployment. Spec: States and transitions */
import type { DeviceDeploymentStatus } from '../../fixtures/contract/vocabulary.ts';
import { finishTimeMs } from '../rules/deployment-progress.ts';
import { applyStop, type DeviceDeployment, isFinal } from '../rules/device-deployment.ts';
import { type NoUpdate, noDeployment } from '../rules/no-update.ts';
import type { StoredDeployment } from './deployments.ts';
import {
  type DeviceDeploymentWithFacts,
  deviceDeployment,
  deviceDeploymentQuery,
  finalStatusesSql,
  mayTryAgainSql,
  nonFinalStatusesSql,
  queryWithoutPollData,
  type StoredDeviceDeployment,
  stateColumns,
  stateValues,
  statusCondition,
} from './device-deployment-rows.ts';
import type { DevicesInDeployments } from './devices-in-deployments.ts';
import { filterBy, type SqlCondition } from './engine/filter.ts';
import { bounds, type Page } from './engine/page.ts';
import { number, numberIn, optionalNumber, optionalText, text } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';
import { ReadCache } from './engine/table-changes.ts';

/**
 * Device deployments of one device in order of creation, and the `seq` of the newest deployment
 * that the device was offered and finished.
 */
export interface DeviceDeployments {
  readonly deviceDeployments: readonly DeviceDeploymentWithFacts[];
  readonly lastFinishedSeq: number;
}

/** Filter of the device deployments of a deployment. */
export interface DeviceDeploymentFilter {
  /** A status, or one of the groups `pause`, `active` and `finished`. */
  readonly status?: string | undefined;
  /** Matches devices in one of these inventory groups. */
  readonly groups?: readonly string[] | undefined;
}

/** Number of device deployments that `readEach` reads at a time. */
const BATCH_DEVICES = 200;
/** Maximum number of open device deployments that are read for one device. */
const OPEN_MAX = 1000;
/** Number of devices whose open device deployments are cached. */
const OPEN_CACHED_MAX = 20_000;
/** Number of deployments whose count of offered devices is cached. */
const OFFERED_CACHED_MAX = 1000;

const ofDeployment = 'FROM device_deployments dd WHERE dd.deployment_seq = d.seq';
/** Reads the facts for `finishTimeMs`; devices are counted only if `max_devices` is set. */
const finishQuery = `SELECT d.finished_ms, d.max_devices,
  EXISTS (SELECT 1 ${ofDeployment} AND dd.status IN (${nonFinalStatusesSql})) AS has_non_final,
  d.retries > 0 AND EXISTS (SELECT 1 ${ofDeployment} AND ${mayTryAgainSql}) AS has_retries,
  CASE WHEN d.max_devices IS NULL THEN 0 ELSE
    (SELECT count(*) ${ofDeployment} AND dd.status IN (${finalStatusesSql}) AND NOT (${mayTryAgainSql}))
  END AS finished_devices
  FROM deployments d WHERE d.seq = ?`;

/** Reads and writes the device deployments of a tenant. */
export class DeviceDeploymentStore {
  readonly #sql: Sql;
  readonly #inDeployments: DevicesInDeployments;
  /** Cache of open device deployments by device ID, because devices poll repeatedly. */
  readonly #open: ReadCache<DeviceDeployments>;
  /**
   * Cache of the number of devices that were offered a deployment, by its `seq`. Where a limit
   * applies, every poll of a waiting device needs it.
   */
  readonly #offered: ReadCache<number, number>;

  constructor(sql: Sql, inDeployments: DevicesInDeployments) {
    this.#sql = sql;
    this.#open = new ReadCache(sql.changes, ['deployments', 'device_deployments'], OPEN_CACHED_MAX);
    this.#offered = new ReadCache(sql.changes, ['device_deployments'], OFFERED_CACHED_MAX);
    this.#inDeployments = inDeployments;
  }

  /**
   * Updates whether deployments are finished, after other code has changed their device
   * deployments.
   */
  refresh(deploymentSeqs: readonly number[], nowMs: number): void {
    for (const seq of deploymentSeqs) this.#refreshFinish(seq, nowMs);
  }

  /**
   * Returns why no deployment can be open for the device; undefined when one may be. Does not read
   * the database.
   */
  cachedNoUpdate(deviceId: string): NoUpdate | undefined {
    return this.#inDeployments.cachedNoUpdate(deviceId);
  }

  /** Records that no deployment is open for the device, and why. */
  cacheNoUpdate(deviceId: string, why: NoUpdate): void {
    this.#inDeployments.cacheNoUpdate(deviceId, why);
  }

  /** Returns the device deployment if it was offered to the device and is still in its history. */
  findOffered(deploymentId: string, deviceId: string): StoredDeviceDeployment | undefined {
    // While its status is not final, a device deployment cannot have left the history.
    const isWanted = (deviceDeployment: StoredDeviceDeployment): boolean =>
      deviceDeployment.deployment.id === deploymentId &&
      deviceDeployment.offeredMs !== undefined &&
      !isFinal(deviceDeployment);
    const cached = this.#open.peek(deviceId)?.deviceDeployments.find(isWanted);
    if (cached) return cached;
    const row = this.#sql.first(
      `${deviceDeploymentQuery} WHERE d.id = ? AND dd.device_id = ? AND dd.offered_ms IS NOT NULL
         AND NOT dd.is_forgotten`,
      [deploymentId, deviceId],
    );
    return row && deviceDeployment(row);
  }

  find(deploymentId: string, deviceId: string): StoredDeviceDeployment | undefined {
    const row = this.#sql.first(`${deviceDeploymentQuery} WHERE d.id = ? AND dd.device_id = ?`, [
      deploymentId,
      deviceId,
    ]);
    return row && deviceDeployment(row);
  }

  /** Returns the open device deployments of the device, up to `OPEN_MAX`. */
  listOpen(deviceId: string): DeviceDeployments {
    return this.#withCounts(this.#open.get(deviceId, () => this.#readOpen(deviceId)));
  }

  /** Returns the newest device deployments in the device's history, newest first. */
  newest(deviceId: string, max: number): DeviceDeployments {
    const ofDevice = 'NOT dd.is_forgotten ORDER BY dd.deployment_seq DESC';
    const deviceDeployments = this.#uncounted(deviceId, ofDevice, max);
    return this.#withCounts({ deviceDeployments, lastFinishedSeq: this.#lastFinished(deviceId) });
  }

  /**
   * Stores the new state of a device deployment, and finishes its deployment if that was the last
   * one.
   */
  save(current: StoredDeviceDeployment, next: DeviceDeployment, nowMs: number): void {
    this.#sql.atomically(() => {
      this.#update(current, next);
      if (mayFinish(current, next)) this.#refreshFinish(current.deployment.seq, nowMs);
    });
    this.#inDeployments.markMayBeOpen([current.deviceId]);
  }

  /**
   * Deletes the poll data that are stored with all offers; each device's next poll provides them
   * again.
   */
  clearPollData(): void {
    this.#sql.run('UPDATE device_deployments SET poll_data = NULL WHERE poll_data IS NOT NULL');
  }

  /** Replaces the device deployment's log. */
  saveLog(current: StoredDeviceDeployment, log: string): void {
    const { deployment, deviceId } = current;
    const query =
      'UPDATE device_deployments SET log = ? WHERE deployment_seq = ? AND device_id = ?';
    this.#writeOne(current, () => this.#sql.run(query, [log, deployment.seq, deviceId]));
  }

  findLog(deploymentId: string, deviceId: string): string | undefined {
    const row = this.#sql.first(
      `SELECT dd.log FROM device_deployments dd JOIN deployments d ON d.seq = dd.deployment_seq
       WHERE d.id = ? AND dd.device_id = ?`,
      [deploymentId, deviceId],
    );
    return row && optionalText(row, 'log');
  }

  /** Aborts a deployment on all its devices. */
  abortAll(deployment: StoredDeployment, nowMs: number): void {
    this.#stop(['deployment_seq = ?', deployment.seq], 'aborted', nowMs);
    this.#refreshFinish(deployment.seq, nowMs);
  }

  /** Stops all deployments of a device. */
  stopAllOfDevice(deviceId: string, status: 'aborted' | 'decommissioned', nowMs: number): void {
    const affected = this.#sql.all(
      `SELECT deployment_seq FROM device_deployments dd
       WHERE device_id = ? AND (status IN (${nonFinalStatusesSql}) OR ${mayTryAgainSql})`,
      [deviceId],
    );
    this.#stop(['device_id = ?', deviceId], status, nowMs);
    for (const row of affected) this.#refreshFinish(number(row, 'deployment_seq'), nowMs);
    if (status === 'decommissioned') this.#inDeployments.cacheNoUpdate(deviceId, noDeployment);
    else this.#inDeployments.markMayBeOpen([deviceId]);
  }

  /** Returns the number of device deployments by status. */
  statistics(deployment: StoredDeployment): Map<string, number> {
    const rows = this.#sql.all(
      'SELECT status, count(*) AS n FROM device_deployments WHERE deployment_seq = ? GROUP BY status',
      [deployment.seq],
    );
    return new Map(rows.map((row) => [text(row, 'status'), number(row, 'n')]));
  }

  /** Returns the number of devices that were offered the deployment. */
  countOffered({ seq }: StoredDeployment): number {
    const query = `SELECT count(*) AS n FROM device_deployments
      WHERE deployment_seq = ? AND offered_ms IS NOT NULL`;
    return this.#offered.get(seq, () => numberIn(this.#sql, query, [seq]));
  }

  /** Returns a page of a deployment's device deployments, sorted by device ID. */
  list(
    deployment: StoredDeployment,
    filter: DeviceDeploymentFilter,
    page: Page,
  ): StoredDeviceDeployment[] {
    const { where, values } = deviceDeploymentFilter(deployment, filter);
    const query = `${queryWithoutPollData} ${where} ORDER BY dd.device_id LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [...values, ...bounds(page)]).map(deviceDeployment);
  }

  /**
   * Yields all device deployments of `list`. Reads a few hundred at a time, so that other work can
   * run in between.
   */
  *readEach(
    deployment: StoredDeployment,
    filter: DeviceDeploymentFilter,
  ): Generator<StoredDeviceDeployment> {
    for (let lastDeviceId = ''; ; ) {
      const { where, values } = deviceDeploymentFilter(deployment, filter, [
        'dd.device_id > ?',
        lastDeviceId,
      ]);
      const query = `${queryWithoutPollData} ${where} ORDER BY dd.device_id LIMIT ${BATCH_DEVICES}`;
      const deviceDeployments = this.#sql.all(query, values).map(deviceDeployment);
      const last = deviceDeployments.at(-1);
      if (!last) return;
      lastDeviceId = last.deviceId;
      yield* deviceDeployments;
    }
  }

  count(deployment: StoredDeployment, filter: DeviceDeploymentFilter): number {
    const { where, values } = deviceDeploymentFilter(deployment, filter);
    return numberIn(
      this.#sql,
      `SELECT count(*) AS n FROM device_deployments dd
       JOIN deployments d ON d.seq = dd.deployment_seq ${where}`,
      values,
    );
  }

  /** Returns the device IDs of a deployment, sorted. */
  deviceIds(
    deployment: StoredDeployment,
    filter: Pick<DeviceDeploymentFilter, 'groups'>,
  ): string[] {
    const { where, values } = deviceDeploymentFilter(deployment, filter);
    const query = `SELECT dd.device_id FROM device_deployments dd ${where} ORDER BY dd.device_id`;
    return this.#sql.all(query, values).map((row) => text(row, 'device_id'));
  }

  #readOpen(deviceId: string): DeviceDeployments {
    const isOpen = `dd.status IN (${nonFinalStatusesSql}) AND (dd.offered_ms IS NOT NULL OR d.finished_ms IS NULL)
      OR ${mayTryAgainSql}`;
    const deviceDeployments = this.#uncounted(deviceId, `(${isOpen}) ORDER BY dd.deployment_seq`);
    // The last finished deployment matters only for device deployments that were not offered.
    const hasUnoffered = deviceDeployments.some(({ offeredMs }) => offeredMs === undefined);
    return { deviceDeployments, lastFinishedSeq: hasUnoffered ? this.#lastFinished(deviceId) : 0 };
  }

  #uncounted(deviceId: string, condition: string, max = OPEN_MAX): DeviceDeploymentWithFacts[] {
    const query = `${deviceDeploymentQuery} WHERE dd.device_id = ? AND ${condition} LIMIT ?`;
    const rows = this.#sql.all(query, [deviceId, max]);
    return rows.map((row) => ({ offeredDevices: 0, ...deviceDeployment(row) }));
  }

  /** Adds the number of offered devices where phases or `maxDevices` limit the deployment. */
  #withCounts(uncounted: DeviceDeployments): DeviceDeployments {
    if (!uncounted.deviceDeployments.some(limitsDevices)) return uncounted;
    const deviceDeployments = uncounted.deviceDeployments.map((deviceDeployment) =>
      limitsDevices(deviceDeployment)
        ? { ...deviceDeployment, offeredDevices: this.countOffered(deviceDeployment.deployment) }
        : deviceDeployment,
    );
    return { ...uncounted, deviceDeployments };
  }

  #lastFinished(deviceId: string): number {
    const row = this.#sql.first(
      `SELECT max(deployment_seq) AS seq FROM device_deployments
       WHERE device_id = ? AND offered_ms IS NOT NULL AND NOT is_forgotten
         AND status IN (${finalStatusesSql})`,
      [deviceId],
    );
    return (row && optionalNumber(row, 'seq')) ?? 0;
  }

  #update(current: StoredDeviceDeployment, next: DeviceDeployment): void {
    const { deployment, deviceId } = current;
    const query = `UPDATE device_deployments SET ${stateColumns} WHERE deployment_seq = ? AND device_id = ?`;
    const values = [...stateValues(next), deployment.seq, deviceId];
    this.#writeOne(current, () => this.#sql.run(query, values), next);
  }

  /**
   * Writes one device deployment and updates both caches. The write affects no other device, except
   * through the number of offered devices.
   */
  #writeOne(current: StoredDeviceDeployment, write: () => void, next?: DeviceDeployment): void {
    const { seq } = current.deployment;
    const more = next ? offers(next) - offers(current) : 0;
    const writeCounted = (): void => this.#offered.writeOne(seq, write, (count) => count + more);
    this.#open.writeOne(
      current.deviceId,
      writeCounted,
      (kept) => next && withState(kept, seq, next),
    );
  }

  /**
   * Stops all device deployments that meet the condition, with one statement for each combination of
   * status and retries, because there may be thousands.
   */
  #stop(
    [condition, value]: [string, string | number],
    status: 'aborted' | 'decommissioned',
    nowMs: number,
  ): void {
    const query = `SELECT DISTINCT status, retries_left FROM device_deployments WHERE ${condition}`;
    for (const row of this.#sql.all(query, [value])) {
      const from: Pick<DeviceDeployment, 'status' | 'retriesLeft' | 'finishedMs'> = {
        status: text(row, 'status') as DeviceDeploymentStatus,
        retriesLeft: number(row, 'retries_left'),
      };
      const to = applyStop(from, status, nowMs);
      this.#sql.run(
        `UPDATE device_deployments
         SET status = ?, retries_left = ?, finished_ms = coalesce(?, finished_ms)
         WHERE ${condition} AND status = ? AND retries_left = ?`,
        [to.status, to.retriesLeft, to.finishedMs ?? null, value, from.status, from.retriesLeft],
      );
    }
  }

  #refreshFinish(seq: number, nowMs: number): void {
    const row = this.#sql.first(finishQuery, [seq]);
    if (!row) return;
    const finishedMs = optionalNumber(row, 'finished_ms');
    const newFinishedMs = finishTimeMs(
      {
        finishedMs,
        maxDevices: optionalNumber(row, 'max_devices'),
        hasNonFinal: number(row, 'has_non_final') === 1,
        hasRetries: number(row, 'has_retries') === 1,
        finishedDevices: number(row, 'finished_devices'),
      },
      nowMs,
    );
    if (newFinishedMs === finishedMs) return;
    this.#sql.run('UPDATE deployments SET finished_ms = ? WHERE seq = ?', [
      newFinishedMs ?? null,
      seq,
    ]);
  }
}

/**
 * Returns the cached open device deployments after this change; undefined when they must be read
 * again.
 */
function withState(
  { deviceDeployments, lastFinishedSeq }: DeviceDeployments,
  seq: number,
  next: DeviceDeployment,
): DeviceDeployments | undefined {
  const [only, ...otherDeployments] = deviceDeployments;
  if (only?.deployment.seq !== seq || otherDeployments.length > 0 || isFinal(next))
    return undefined;
  return { deviceDeployments: [{ ...only, ...next }], lastFinishedSeq };
}

function limitsDevices({ deployment: { maxDevices, phases } }: StoredDeviceDeployment): boolean {
  return maxDevices !== undefined || phases !== undefined;
}

function offers({ offeredMs }: DeviceDeployment): number {
  return offeredMs === undefined ? 0 : 1;
}

/**
 * Returns false when the device deployment is in progress before and after the change, which then
 * cannot finish the deployment.
 */
function mayFinish(current: StoredDeviceDeployment, next: DeviceDeployment): boolean {
  if (next.status === current.status) return false;
  return isFinal(current) || isFinal(next) || current.deployment.finishedMs !== undefined;
}

function deviceDeploymentFilter(
  { seq }: StoredDeployment,
  { status, groups }: DeviceDeploymentFilter,
  ...conditions: readonly SqlCondition[]
) {
  return filterBy(
    ...conditions,
    ['dd.deployment_seq = ?', seq],
    statusCondition(status),
    groups && [
      `dd.device_id IN (SELECT device_id FROM device_groups
         WHERE name IN (${groups.map(() => '?').join(', ')}))`,
      ...groups,
    ],
  );
}
