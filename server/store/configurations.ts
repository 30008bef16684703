/** Configurations of devices. The device and the users write the same store. */
import { document, number, optionalNumber, optionalText } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';

export interface StoredConfiguration {
  /** The pairs that users set for the device. */
  readonly configured: Record<string, string>;
  /** The pairs that the device reported. */
  readonly reported: Record<string, string>;
  /** ID of the last deployment of the configuration. */
  readonly deploymentId?: string;
  readonly updatedMs: number;
  readonly reportedMs?: number;
}

/** Reads and writes the device configurations of a tenant. */
export class ConfigurationStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  find(deviceId: string): StoredConfiguration | undefined {
    const row = this.#sql.first('SELECT * FROM configurations WHERE device_id = ?', [deviceId]);
    if (!row) return undefined;
    const deploymentId = optionalText(row, 'deployment_id');
    const reportedMs = optionalNumber(row, 'reported_ms');
    return {
      configured: document<Record<string, string>>(row, 'configured'),
      reported: document<Record<string, string>>(row, 'reported'),
      updatedMs: number(row, 'updated_ms'),
      ...(deploymentId !== undefined && { deploymentId }),
      ...(reportedMs !== undefined && { reportedMs }),
    };
  }

  save(deviceId: string, configuration: StoredConfiguration): void {
    this.#sql.run('INSERT OR REPLACE INTO configurations VALUES (?, ?, ?, ?, ?, ?)', [
      deviceId,
      JSON.stringify(configuration.configured),
      JSON.stringify(configuration.reported),
      configuration.deploymentId ?? null,
      configuration.updatedMs,
      configuration.reportedMs ?? null,
    ]);
  }

  /** Records the last deployment of the configuration, also when it is still empty. */
  noteDeployment(deviceId: string, deploymentId: string, nowMs: number): void {
    this.#sql.run(
      `INSERT INTO configurations (device_id, configured, reported, deployment_id, updated_ms)
       VALUES (?, '{}', '{}', ?, ?)
       ON CONFLICT (device_id) DO UPDATE SET deployment_id = excluded.deployment_id`,
      [deviceId, deploymentId, nowMs],
    );
  }

  remove(deviceId: string): void {
    this.#sql.run('DELETE FROM configurations WHERE device_id = ?', [deviceId]);
  }
}
