/**
 * Valid tokens of users: sessions, personal access tokens, and the token issued at server start.
 */
import { limits } from '../../fixtures/contract/limits.ts';
import { bounds, type Page } from './engine/page.ts';
import { number, numberIn, optionalNumber, text } from './engine/row.ts';
import type { Sql, SqlRow } from './engine/sql.ts';

/** `first` is the token that the server issues at its start; later sessions do not end it. */
export type UserTokenKind = 'session' | 'personal' | 'first';

/** A token to be stored. */
export interface NewUserToken {
  readonly id: string;
  readonly userId: string;
  readonly kind: UserTokenKind;
  /** Name of a personal access token, unique for its user. */
  readonly name?: string | undefined;
  /** Absent when the token does not expire. */
  readonly expiresMs?: number | undefined;
}

export interface StoredUserToken {
  readonly id: string;
  readonly userId: string;
  readonly kind: UserTokenKind;
  readonly lastUsedMs?: number;
}

export interface StoredPersonalToken {
  readonly id: string;
  readonly name: string;
  readonly createdMs: number;
  readonly expiresMs?: number;
  readonly lastUsedMs?: number;
}

/** Reads and writes the tokens of users of a tenant. */
export class UserTokenStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * Stores the token, deletes expired personal tokens, and ends the oldest sessions beyond the
   * limit. Other expired tokens stay, because a clock that was set ahead may be set back.
   */
  record({ id, userId, kind, name, expiresMs }: NewUserToken, nowMs: number): void {
    this.#sql.atomically(() => {
      this.#sql.run("DELETE FROM user_tokens WHERE kind = 'personal' AND expires_ms <= ?", [nowMs]);
      this.#sql.run(
        `INSERT INTO user_tokens (id, user_id, kind, name, created_ms, expires_ms)
         VALUES (?, ?, ?, ?, ?, ?)`,
        [id, userId, kind, name ?? null, nowMs, expiresMs ?? null],
      );
      if (kind !== 'session') return;
      this.#sql.run(
        `DELETE FROM user_tokens WHERE user_id = ? AND kind = 'session' AND seq NOT IN
         (SELECT seq FROM user_tokens WHERE user_id = ? AND kind = 'session'
          ORDER BY seq DESC LIMIT ?)`,
        [userId, userId, limits.sessionsMax],
      );
    });
  }

  find(id: string): StoredUserToken | undefined {
    const row = this.#sql.first('SELECT * FROM user_tokens WHERE id = ?', [id]);
    return row && token(row);
  }

  recordUse(id: string, nowMs: number): void {
    this.#sql.run('UPDATE user_tokens SET last_used_ms = ? WHERE id = ?', [nowMs, id]);
  }

  /**
   * Returns a page of the user's personal access tokens that have not expired, in order of
   * creation.
   */
  personal(userId: string, nowMs: number, page: Page): StoredPersonalToken[] {
    const query = `SELECT * FROM user_tokens WHERE ${livePersonal} ORDER BY seq LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [userId, nowMs, ...bounds(page)]).map(personalToken);
  }

  countPersonal(userId: string, nowMs: number): number {
    const query = `SELECT count(*) AS n FROM user_tokens WHERE ${livePersonal}`;
    return numberIn(this.#sql, query, [userId, nowMs]);
  }

  /** Returns true if the user has an unexpired personal access token of this name. */
  hasPersonal(userId: string, name: string, nowMs: number): boolean {
    const query = `SELECT 1 FROM user_tokens WHERE ${livePersonal} AND name = ?`;
    return this.#sql.first(query, [userId, nowMs, name]) !== undefined;
  }

  /**
   * Deletes a personal access token of the user; returns its name, or undefined if it does not
   * exist.
   */
  revokePersonal(userId: string, id: string): string | undefined {
    const condition = "id = ? AND user_id = ? AND kind = 'personal'";
    const row = this.#sql.first(`SELECT name FROM user_tokens WHERE ${condition}`, [id, userId]);
    if (row) this.end(id);
    return row && text(row, 'name');
  }

  end(id: string): void {
    this.#sql.run('DELETE FROM user_tokens WHERE id = ?', [id]);
  }

  /** Deletes all tokens of a user, except the one in use if given. */
  endAllOf(userId: string, exceptId = ''): void {
    this.#sql.run('DELETE FROM user_tokens WHERE user_id = ? AND id <> ?', [userId, exceptId]);
  }
}

const livePersonal = "user_id = ? AND kind = 'personal' AND (expires_ms IS NULL OR expires_ms > ?)";

function token(row: SqlRow): StoredUserToken {
  const lastUsedMs = optionalNumber(row, 'last_used_ms');
  return {
    id: text(row, 'id'),
    userId: text(row, 'user_id'),
    kind: text(row, 'kind') as UserTokenKind,
    ...(lastUsedMs !== undefined && { lastUsedMs }),
  };
}

function personalToken(row: SqlRow): StoredPersonalToken {
  const expiresMs = optionalNumber(row, 'expires_ms');
  const { id, lastUsedMs } = token(row);
  return {
    id,
    name: text(row, 'name'),
    createdMs: number(row, 'created_ms'),
    ...(expiresMs !== undefined && { expiresMs }),
    ...(lastUsedMs !== undefined && { lastUsedMs }),
  };
}
