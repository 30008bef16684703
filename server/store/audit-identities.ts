/**
 * Stores identities of devices for the audit log once, in the device's row, instead of in each
 * entry.
 */
import type { AuditLog } from '../../fixtures/contract/resources.ts';
import { text } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';

/** The parts of an entry that name devices. */
type EntryParties = Pick<AuditLog, 'actor' | 'object'>;

/** Identities by device ID; undefined for an ID that no device has. */
export type KnownIdentities = Map<string, string | undefined>;

/** Removes identities from entries that are stored, and restores them in entries that are read. */
export class AuditIdentities {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Returns the entry without the identities that `putBack` can restore. */
  without<Entry extends EntryParties>(entry: Entry): Entry {
    const { actor, object } = entry;
    const identities: KnownIdentities = new Map();
    this.#find([actor.id, object.id], identities);
    const isIn = (id: string, identity: string | undefined): boolean =>
      identity !== undefined && identities.get(id) === identity;
    const isActor = isIn(actor.id, actor.identity_data);
    const isObject = isIn(object.id, object.device?.identity_data);
    if (!isActor && !isObject) return entry;
    return {
      ...entry,
      ...(isActor && { actor: { ...actor, identity_data: undefined } }),
      ...(isObject && {
        object: { ...object, device: { ...object.device, identity_data: undefined } },
      }),
    };
  }

  /**
   * Restores the identities of entries that were just read.
   * @param identities identities that earlier calls found; extended by this call
   */
  putBack(entries: readonly AuditLog[], identities: KnownIdentities = new Map()): void {
    const gaps = entries.flatMap(gapsOf);
    const ids = new Set(gaps.map(({ id }) => id).filter((id) => !identities.has(id)));
    if (ids.size > 0) this.#find([...ids], identities);
    for (const { id, holder } of gaps) {
      const identity = identities.get(id);
      if (identity !== undefined) holder.identity_data = identity;
    }
  }

  /** Finds identities by device ID, including those of removed devices. */
  #find(ids: readonly string[], identities: KnownIdentities): void {
    const idsSql = '(SELECT value FROM json_each(?))';
    const query = `SELECT id, identity FROM former_devices WHERE id IN ${idsSql}
      UNION ALL SELECT id, identity FROM devices WHERE id IN ${idsSql}`;
    const rows = this.#sql.all(query, [JSON.stringify(ids), JSON.stringify(ids)]);
    for (const id of ids) identities.set(id, undefined);
    for (const row of rows) identities.set(text(row, 'id'), text(row, 'identity'));
  }
}

/** A place in an entry where a device's identity is missing. */
interface MissingIdentity {
  readonly id: string;
  readonly holder: { identity_data?: string | undefined };
}

function gapsOf({ actor, object }: AuditLog): MissingIdentity[] {
  const gaps: MissingIdentity[] = [];
  if (actor.type === 'device') gaps.push({ id: actor.id, holder: actor });
  if (object.device) gaps.push({ id: object.id, holder: object.device });
  return gaps.filter(({ holder }) => holder.identity_data === undefined);
}
