/** The connection state of devices' websockets. */
import { number } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';

export interface StoredConnection {
  readonly status: 'connected' | 'disconnected';
  readonly createdMs: number;
  readonly updatedMs: number;
}

/**
 * Reads and writes the connection state of devices. Which devices are connected is kept in memory,
 * since no connection survives the process.
 */
export class ConnectionStore {
  readonly #sql: Sql;
  readonly #connected = new Set<string>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  find(deviceId: string): StoredConnection | undefined {
    const row = this.#sql.first('SELECT * FROM connections WHERE device_id = ?', [deviceId]);
    return (
      row && {
        status: this.#connected.has(deviceId) ? 'connected' : 'disconnected',
        createdMs: number(row, 'created_ms'),
        updatedMs: number(row, 'updated_ms'),
      }
    );
  }

  /** Returns the IDs of the devices with an open WebSocket. */
  connectedIds(): ReadonlySet<string> {
    return this.#connected;
  }

  record(deviceId: string, status: StoredConnection['status'], nowMs: number): void {
    if (status === 'connected') this.#connected.add(deviceId);
    else this.#connected.delete(deviceId);
    this.#sql.run(
      `INSERT INTO connections VALUES (?, ?, ?) ON CONFLICT (device_id)
       DO UPDATE SET updated_ms = excluded.updated_ms`,
      [deviceId, nowMs, nowMs],
    );
  }

  /** Marks every device as disconnected. */
  disconnectAll(): void {
    this.#connected.clear();
  }

  remove(deviceId: string): void {
    this.#sql.run('DELETE FROM connections WHERE device_id = ?', [deviceId]);
    this.#sql.afterCommit(() => this.#connected.delete(deviceId));
  }
}
