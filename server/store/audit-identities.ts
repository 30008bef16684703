/** Identities of devices in the audit log: stored once, in the row of the device, not in each entry. */
import type { AuditLog } from '../../fixtures/contract/resources.ts';
import { text } from './engine/row.ts';
import type { Sql } from './engine/sql.ts';

/** What of an entry names devices. */
type Identified = Pick<AuditLog, 'actor' | 'object'>;

/** Identities by the ids of devices; undefined for an id that no device has. */
export type KnownIdentities = Map<string, string | undefined>;

/** Takes identities out of entries, and puts them back. */
export class AuditIdentities {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The entry without those that can be put back. */
  without<Entry extends Identified>(entry: Entry): Entry {
    const { actor, object } = entry;
    const known: KnownIdentities = new Map();
    this.#find([actor.id, object.id], known);
    const isIn = (id: string, identity: string | undefined): boolean =>
      identity !== undefined && known.get(id) === identity;
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

  /** Completes entries that have just been read. @param known what was found for others before */
  putBack(entries: readonly AuditLog[], known: KnownIdentities = new Map()): void {
    const gaps = entries.flatMap(gapsOf);
    const ids = new Set(gaps.map(({ id }) => id).filter((id) => !known.has(id)));
    if (ids.size > 0) this.#find([...ids], known);
    for (const { id, holder } of gaps) {
      const identity = known.get(id);
      if (identity !== undefined) holder.identity_data = identity;
    }
  }

  /** Includes removed devices. */
  #find(ids: readonly string[], known: KnownIdentities): void {
    const wanted = '(SELECT value FROM json_each(?))';
    const query = `SELECT id, identity FROM former_devices WHERE id IN ${wanted}
      UNION ALL SELECT id, identity FROM devices WHERE id IN ${wanted}`;
    const rows = this.#sql.all(query, [JSON.stringify(ids), JSON.stringify(ids)]);
    for (const id of ids) known.set(id, undefined);
    for (const row of rows) known.set(text(row, 'id'), text(row, 'identity'));
  }
}

/** Where the identity of a device is missing. */
interface Gap {
  readonly id: string;
  readonly holder: { identity_data?: string | undefined };
}

function gapsOf({ actor, object }: AuditLog): Gap[] {
  const gaps: Gap[] = [];
  if (actor.type === 'device') gaps.push({ id: actor.id, holder: actor });
  if (object.device) gaps.push({ id: object.id, holder: object.device });
  return gaps.filter(({ holder }) => holder.identity_data === undefined);
}
