/** The people (and their scripts) who may use the management API. */
import { text } from './row.ts';
import type { Sql, SqlRow } from './sql.ts';

export interface StoredUser {
  readonly id: string;
  readonly email: string;
  readonly passwordHash: string;
}

/** The verbs for users. */
export class UserStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  create(user: StoredUser, nowMs: number): void {
    const values = [user.id, user.email, user.passwordHash, nowMs];
    this.#sql.run('INSERT INTO users VALUES (?, ?, ?, ?)', values);
  }

  find(id: string): StoredUser | undefined {
    const row = this.#sql.first('SELECT * FROM users WHERE id = ?', [id]);
    return row && user(row);
  }

  findByEmail(email: string): StoredUser | undefined {
    const row = this.#sql.first('SELECT * FROM users WHERE email = ?', [email]);
    return row && user(row);
  }
}

function user(row: SqlRow): StoredUser {
  return {
    id: text(row, 'id'),
    email: text(row, 'email'),
    passwordHash: text(row, 'password_hash'),
  };
}
