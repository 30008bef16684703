/**
 * Changes that wait for the confirmation by a secret sent by email: a first password, or a new
 * email address.
 */
import { number, optionalText, text } from './engine/row.ts';
import type { Sql, SqlRow } from './engine/sql.ts';

export type ConfirmationKind = 'password' | 'email';

/** A change to be confirmed. Only a digest of the secret is stored. */
export interface Confirmation {
  readonly secretDigest: string;
  readonly kind: ConfirmationKind;
  readonly userId: string;
  /** The new email address; only for the kind `email`. */
  readonly email?: string;
  readonly expiresMs: number;
}

/** Reads and writes the confirmations of a tenant. */
export class ConfirmationStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Stores the confirmation, and replaces the user's previous one of its kind. */
  record({ secretDigest, kind, userId, email, expiresMs }: Confirmation): void {
    const values = [secretDigest, kind, userId, email ?? null, expiresMs];
    this.#sql.run('INSERT OR REPLACE INTO confirmations VALUES (?, ?, ?, ?, ?)', values);
  }

  find(kind: ConfirmationKind, secretDigest: string): Confirmation | undefined {
    const query = 'SELECT * FROM confirmations WHERE kind = ? AND secret_digest = ?';
    const row = this.#sql.first(query, [kind, secretDigest]);
    return row && confirmation(row);
  }

  findOf(kind: ConfirmationKind, userId: string): Confirmation | undefined {
    const query = 'SELECT * FROM confirmations WHERE kind = ? AND user_id = ?';
    const row = this.#sql.first(query, [kind, userId]);
    return row && confirmation(row);
  }

  remove(kind: ConfirmationKind, userId: string): void {
    this.#sql.run('DELETE FROM confirmations WHERE kind = ? AND user_id = ?', [kind, userId]);
  }

  removeAllOf(userId: string): void {
    this.#sql.run('DELETE FROM confirmations WHERE user_id = ?', [userId]);
  }
}

function confirmation(row: SqlRow): Confirmation {
  const email = optionalText(row, 'email');
  return {
    secretDigest: text(row, 'secret_digest'),
    kind: text(row, 'kind') as ConfirmationKind,
    userId: text(row, 'user_id'),
    ...(email !== undefined && { email }),
    expiresMs: number(row, 'expires_ms'),
  };
}
