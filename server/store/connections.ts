/** Presence of the devices' websockets. */
import { number, text } from './row.ts';
import type { Sql } from './sql.ts';

export interface StoredConnection {
  readonly status: 'connected' | 'disconnected';
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** The verbs for presence. */
export class ConnectionStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  find(deviceId: string): StoredConnection | undefined {
    const row = this.#sql.first('SELECT * FROM connections WHERE device_id = ?', [deviceId]);
    return (
      row && {
        status: text(row, 'status') === 'connected' ? 'connected' : 'disconnected',
        createdMs: number(row, 'created_ms'),
        updatedMs: number(row, 'updated_ms'),
      }
    );
  }

  /** The devices whose sockets are open. */
  connectedIds(): string[] {
    const rows = this.#sql.all("SELECT device_id FROM connections WHERE status = 'connected'");
    return rows.map((row) => text(row, 'device_id'));
  }

  record(deviceId: string, status: StoredConnection['status'], nowMs: number): void {
    this.#sql.run(
      `INSERT INTO connections VALUES (?, ?, ?, ?) ON CONFLICT (device_id)
       DO UPDATE SET status = excluded.status, updated_ms = excluded.updated_ms`,
      [deviceId, status, nowMs, nowMs],
    );
  }

  /** Takes every device for disconnected, as when the process that held its socket is gone. */
  disconnectAll(): void {
    this.#sql.run("UPDATE connections SET status = 'disconnected' WHERE status = 'connected'");
  }

  remove(deviceId: string): void {
    this.#sql.run('DELETE FROM connections WHERE device_id = ?', [deviceId]);
  }
}
