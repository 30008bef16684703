/** The users of the management API. Email addresses are case-insensitive. */
import { comparison, filterBy, oneOf, type SqlFilter } from './engine/filter.ts';
import { bounds, type Page } from './engine/page.ts';
import { document, number, numberIn, optionalNumber, optionalText, text } from './engine/row.ts';
import type { Sql, SqlRow } from './engine/sql.ts';

/** A user to be stored. A user without a password is invited, and cannot log in yet. */
export interface NewUser {
  readonly id: string;
  readonly email: string;
  readonly passwordHash?: string | undefined;
  readonly roles?: readonly string[] | undefined;
}

export interface StoredUser {
  readonly id: string;
  readonly email: string;
  readonly passwordHash?: string;
  /** Names of the user's roles; a user without roles has full access. */
  readonly roles: readonly string[];
  readonly createdMs: number;
  readonly updatedMs: number;
  /** Time of the user's last login, in milliseconds since the Unix epoch. */
  readonly loginMs?: number;
}

/** Changes of a user; absent fields stay unchanged. */
export interface UserChange {
  readonly email?: string | undefined;
  readonly passwordHash?: string | undefined;
  readonly roles?: readonly string[] | undefined;
}

/** Filter of a list of users; time bounds are exclusive. */
export interface UserFilter {
  readonly id: readonly string[];
  readonly email: readonly string[];
  readonly createdAfterMs?: number | undefined;
  readonly createdBeforeMs?: number | undefined;
  readonly updatedAfterMs?: number | undefined;
  readonly updatedBeforeMs?: number | undefined;
}

/** Reads and writes the users of a tenant. */
export class UserStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  create({ id, email, passwordHash, roles = [] }: NewUser, nowMs: number): void {
    this.#sql.run('INSERT INTO users VALUES (?, ?, ?, ?, ?, ?, NULL)', [
      id,
      email.toLowerCase(),
      passwordHash ?? null,
      JSON.stringify(roles),
      nowMs,
      nowMs,
    ]);
  }

  find(id: string): StoredUser | undefined {
    const row = this.#sql.first('SELECT * FROM users WHERE id = ?', [id]);
    return row && user(row);
  }

  findByEmail(email: string): StoredUser | undefined {
    const row = this.#sql.first('SELECT * FROM users WHERE email = ?', [email.toLowerCase()]);
    return row && user(row);
  }

  /** Returns a page of the matching users in order of creation. */
  list(filter: UserFilter, page: Page): StoredUser[] {
    const { where, values } = conditions(filter);
    const query = `SELECT * FROM users ${where} ORDER BY created_ms, rowid LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [...values, ...bounds(page)]).map(user);
  }

  count(filter: UserFilter): number {
    const { where, values } = conditions(filter);
    return numberIn(this.#sql, `SELECT count(*) AS n FROM users ${where}`, values);
  }

  /** Returns the users who have the role, at most `max`. */
  holders(role: string, max: number): StoredUser[] {
    const query =
      'SELECT * FROM users WHERE EXISTS (SELECT 1 FROM json_each(roles) WHERE value = ?) LIMIT ?';
    return this.#sql.all(query, [role, max]).map(user);
  }

  change(id: string, { email, passwordHash, roles }: UserChange, nowMs: number): void {
    this.#sql.run(
      `UPDATE users SET email = coalesce(?, email), password_hash = coalesce(?, password_hash),
       roles = coalesce(?, roles), updated_ms = ? WHERE id = ?`,
      [
        email?.toLowerCase() ?? null,
        passwordHash ?? null,
        roles ? JSON.stringify(roles) : null,
        nowMs,
        id,
      ],
    );
  }

  recordLogin(id: string, nowMs: number): void {
    this.#sql.run('UPDATE users SET login_ms = ? WHERE id = ?', [nowMs, id]);
  }

  remove(id: string): void {
    this.#sql.run('DELETE FROM users WHERE id = ?', [id]);
  }
}

function conditions(filter: UserFilter): SqlFilter {
  const emails = filter.email.map((email) => email.toLowerCase());
  return filterBy(
    oneOf('id', filter.id),
    oneOf('email', emails),
    comparison('created_ms', '>', filter.createdAfterMs),
    comparison('created_ms', '<', filter.createdBeforeMs),
    comparison('updated_ms', '>', filter.updatedAfterMs),
    comparison('updated_ms', '<', filter.updatedBeforeMs),
  );
}

function user(row: SqlRow): StoredUser {
  const passwordHash = optionalText(row, 'password_hash');
  const loginMs = optionalNumber(row, 'login_ms');
  return {
    id: text(row, 'id'),
    email: text(row, 'email'),
    ...(passwordHash !== undefined && { passwordHash }),
    roles: document<string[]>(row, 'roles'),
    createdMs: number(row, 'created_ms'),
    updatedMs: number(row, 'updated_ms'),
    ...(loginMs !== undefined && { loginMs }),
  };
}
