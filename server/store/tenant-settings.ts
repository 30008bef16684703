/** Settings of a tenant: its device limit, and whether alerts are sent by email. */
import { number } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';

/** Reads and writes the settings of a tenant. */
export class TenantSettingStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Returns the tenant's own limit of accepted devices; undefined if it has none. */
  deviceLimit(): number | undefined {
    return this.#find('device_limit');
  }

  /** Sets the tenant's limit of accepted devices; -1 for no limit. */
  setDeviceLimit(max: number): void {
    this.#save('device_limit', max);
  }

  /** Returns true if alerts are sent by email, which is the default. */
  sendsAlertEmails(): boolean {
    return this.#find('alert_emails') !== 0;
  }

  setAlertEmails(enabled: boolean): void {
    this.#save('alert_emails', enabled ? 1 : 0);
  }

  #find(name: string): number | undefined {
    const row = this.#sql.first('SELECT value FROM tenant_settings WHERE name = ?', [name]);
    return row && number(row, 'value');
  }

  #save(name: string, value: number): void {
    this.#sql.run('INSERT OR REPLACE INTO tenant_settings VALUES (?, ?)', [name, value]);
  }
}
