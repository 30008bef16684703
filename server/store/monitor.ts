/** Alerts and monitor configurations as devices send them; each device keeps its newest alerts. */
import type { Alert, MonitorConfiguration } from '../../fixtures/contract/resources.ts';
import { filterBy } from './filter.ts';
import { bounds, type Page } from './page.ts';
import { document, text } from './row.ts';
import type { Sql } from './sql.ts';

export interface NewAlert {
  readonly id: string;
  readonly alert: Alert;
  readonly issuedMs: number;
}

export interface AlertFilter {
  readonly issuedAfterMs?: number | undefined;
  readonly issuedBeforeMs?: number | undefined;
}

/** Older alerts of a device are forgotten beyond this number. */
const ALERTS_KEPT_PER_DEVICE = 1000;

/** The verbs for monitoring. */
export class MonitorStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  appendAlerts(deviceId: string, alerts: readonly NewAlert[]): void {
    this.#sql.atomically(() => {
      for (const { id, alert, issuedMs } of alerts) {
        this.#sql.run(
          'INSERT INTO alerts (id, device_id, issued_ms, document) VALUES (?, ?, ?, ?)',
          [id, deviceId, issuedMs, JSON.stringify(alert)],
        );
      }
      this.#sql.run(
        `DELETE FROM alerts WHERE device_id = ? AND seq NOT IN (
           SELECT seq FROM alerts WHERE device_id = ? ORDER BY seq DESC LIMIT ?)`,
        [deviceId, deviceId, ALERTS_KEPT_PER_DEVICE],
      );
    });
  }

  /** Alerts of a device, the newest first. */
  listAlerts(deviceId: string, filter: AlertFilter, page: Page): (Alert & { id: string })[] {
    const { where, values } = filterBy(
      ['device_id = ?', deviceId],
      filter.issuedAfterMs === undefined ? undefined : ['issued_ms >= ?', filter.issuedAfterMs],
      filter.issuedBeforeMs === undefined ? undefined : ['issued_ms <= ?', filter.issuedBeforeMs],
    );
    const query = `SELECT id, document FROM alerts ${where}
      ORDER BY issued_ms DESC, seq DESC LIMIT ? OFFSET ?`;
    return this.#sql
      .all(query, [...values, ...bounds(page)])
      .map((row) => ({ id: text(row, 'id'), ...document<Alert>(row, 'document') }));
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
    this.#sql.run('DELETE FROM monitor_configurations WHERE device_id = ?', [deviceId]);
  }
}
