/** The custom roles of a tenant; predefined roles are not stored. */
import type { Grant, Role } from '../rules/access.ts';
import { bounds, type Page } from './engine/page.ts';
import { document, numberIn, text } from './engine/row.ts';
import type { Sql, SqlRow } from './engine/sql.ts';

/** Reads and writes the roles of a tenant. */
export class RoleStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  create({ name, description, grants }: Role): void {
    const values = [name, description, JSON.stringify(grants)];
    this.#sql.run('INSERT INTO roles (name, description, grants) VALUES (?, ?, ?)', values);
  }

  find(name: string): Role | undefined {
    const row = this.#sql.first('SELECT * FROM roles WHERE name = ?', [name]);
    return row && role(row);
  }

  /** Returns a page of roles in order of creation. */
  list(page: Page): Role[] {
    const query = 'SELECT * FROM roles ORDER BY seq LIMIT ? OFFSET ?';
    return this.#sql.all(query, bounds(page)).map(role);
  }

  count(): number {
    return numberIn(this.#sql, 'SELECT count(*) AS n FROM roles');
  }

  change({ name, description, grants }: Role): void {
    const values = [description, JSON.stringify(grants), name];
    this.#sql.run('UPDATE roles SET description = ?, grants = ? WHERE name = ?', values);
  }

  remove(name: string): void {
    this.#sql.run('DELETE FROM roles WHERE name = ?', [name]);
  }
}

function role(row: SqlRow): Role {
  return {
    name: text(row, 'name'),
    description: text(row, 'description'),
    grants: document<Grant[]>(row, 'grants'),
  };
}
