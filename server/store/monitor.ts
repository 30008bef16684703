/**
 * Alerts and monitor configurations of devices. Only the newest alerts of each device are stored.
 */
import type { Alert, MonitorConfiguration } from '../../fixtures/contract/resources.ts';
import { comparison, equal, filterBy } from './engine/filter.ts';
import { bounds, type Page } from './engine/page.ts';
import { document, number, numberIn, text } from './engine/row.ts';
import type { Sql, SqlRow } from './engine/sql.ts';

export interface NewAlert {
  readonly id: string;
  readonly alert: Alert;
  readonly issuedMs: number;
}

/** Bounds of the time of issue, both inclusive, in milliseconds since the Unix epoch. */
export interface AlertFilter {
  readonly issuedAfterMs?: number | undefined;
  readonly issuedBeforeMs?: number | undefined;
}

/** The part of an alert's subject that identifies it. */
type AlertSubject = Pick<Alert['subject'], 'type' | 'name'>;

type AlertWithId = Alert & { readonly id: string };

/** Maximum number of alerts, and of subjects, that are stored for a device. */
const ALERTS_KEPT_PER_DEVICE = 1000;

/** Reads and writes the alerts and monitoring records of a tenant. */
export class MonitorStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  appendAlerts(deviceId: string, alerts: readonly NewAlert[]): void {
    this.#sql.atomically(() => {
      for (const alert of alerts) this.#append(deviceId, alert);
      const max = ALERTS_KEPT_PER_DEVICE;
      this.#sql.run(
        `DELETE FROM alerts WHERE seq IN (
           SELECT seq FROM alerts WHERE device_id = ? ORDER BY seq DESC LIMIT -1 OFFSET ?)`,
        [deviceId, max],
      );
      this.#sql.run(
        `DELETE FROM alert_subjects WHERE device_id = ? AND (type, name) IN (
           SELECT type, name FROM alert_subjects WHERE device_id = ?
           ORDER BY issued_ms DESC, type, name LIMIT -1 OFFSET ?)`,
        [deviceId, deviceId, max],
      );
    });
  }

  /**
   * Returns a page of a device's alerts by time of issue, as `seq` numbers, because an alert may
   * have 32 KiB.
   */
  alerts(
    deviceId: string,
    { order, ...filter }: AlertFilter & { readonly order: 'asc' | 'desc' },
    page: Page,
  ): number[] {
    const { where, values } = alertFilter(deviceId, filter);
    const direction = order === 'asc' ? 'ASC' : 'DESC';
    const query = `SELECT seq FROM alerts ${where}
      ORDER BY issued_ms ${direction}, seq ${direction} LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [...values, ...bounds(page)]).map((row) => number(row, 'seq'));
  }

  findAlert(seq: number): AlertWithId | undefined {
    const row = this.#sql.first('SELECT id, document FROM alerts WHERE seq = ?', [seq]);
    return row && storedAlert(row);
  }

  countAlerts(deviceId: string, filter: AlertFilter): number {
    const { where, values } = alertFilter(deviceId, filter);
    return numberIn(this.#sql, `SELECT count(*) AS n FROM alerts ${where}`, values);
  }

  /**
   * Returns the subjects of a device's alerts, oldest last alert first; with `level`, only those
   * whose last alert has it.
   */
  subjects(deviceId: string, level?: Alert['level']): AlertSubject[] {
    const { where, values } = filterBy(['device_id = ?', deviceId], equal('level', level));
    const query = `SELECT type, name FROM alert_subjects ${where}
      ORDER BY issued_ms, type, name LIMIT ?`;
    const rows = this.#sql.all(query, [...values, ALERTS_KEPT_PER_DEVICE]);
    return rows.map((row) => ({ type: text(row, 'type'), name: text(row, 'name') }));
  }

  /** Returns the last alert of a subject. */
  findLatest(deviceId: string, { type, name }: AlertSubject) {
    const query = `SELECT alert_id AS id, document FROM alert_subjects
      WHERE device_id = ? AND type = ? AND name = ?`;
    const row = this.#sql.first(query, [deviceId, type, name]);
    return row && storedAlert(row);
  }

  /**
   * Returns the number of subjects whose last alert is critical; undefined for a device without
   * alerts.
   */
  criticalCount(deviceId: string): number | undefined {
    const query = `SELECT count(*) AS n, coalesce(sum(level = 'CRITICAL'), 0) AS critical
      FROM alert_subjects WHERE device_id = ?`;
    const row = this.#sql.first(query, [deviceId]);
    return row && number(row, 'n') > 0 ? number(row, 'critical') : undefined;
  }

  /** Replaces the device's monitor configuration. */
  saveConfiguration(deviceId: string, entries: readonly MonitorConfiguration[]): void {
    this.#sql.run('INSERT OR REPLACE INTO monitor_configurations VALUES (?, ?)', [
      deviceId,
      JSON.stringify(entries),
    ]);
  }

  findConfiguration(deviceId: string): MonitorConfiguration[] | undefined {
    const query = 'SELECT document FROM monitor_configurations WHERE device_id = ?';
    const row = this.#sql.first(query, [deviceId]);
    return row && document<MonitorConfiguration[]>(row, 'document');
  }

  remove(deviceId: string): void {
    this.#sql.run('DELETE FROM alerts WHERE device_id = ?', [deviceId]);
    this.#sql.run('DELETE FROM alert_subjects WHERE device_id = ?', [deviceId]);
    this.#sql.run('DELETE FROM monitor_configurations WHERE device_id = ?', [deviceId]);
  }

  /** Stores the alert; it also becomes the last alert of its subject, unless a later one exists. */
  #append(deviceId: string, { id, alert, issuedMs }: NewAlert): void {
    const document = JSON.stringify(alert);
    this.#sql.run('INSERT INTO alerts (id, device_id, issued_ms, document) VALUES (?, ?, ?, ?)', [
      id,
      deviceId,
      issuedMs,
      document,
    ]);
    const { type, name } = alert.subject;
    this.#sql.run(
      `INSERT INTO alert_subjects VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device_id, type, name)
       DO UPDATE SET level = excluded.level, issued_ms = excluded.issued_ms,
         alert_id = excluded.alert_id, document = excluded.document
       WHERE excluded.issued_ms >= issued_ms`,
      [deviceId, type, name, alert.level, issuedMs, id, document],
    );
  }
}

function alertFilter(deviceId: string, { issuedAfterMs, issuedBeforeMs }: AlertFilter) {
  return filterBy(
    ['device_id = ?', deviceId],
    comparison('issued_ms', '>=', issuedAfterMs),
    comparison('issued_ms', '<=', issuedBeforeMs),
  );
}

function storedAlert(row: SqlRow): AlertWithId {
  return { id: text(row, 'id'), ...document<Alert>(row, 'document') };
}
