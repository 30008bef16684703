/** The audit log: appended to, filtered and paged, never changed. Spec: Audit logs */
import type { AuditLog } from '../../fixtures/contract/resources.ts';
import type { WideAuditAction } from '../../fixtures/contract/vocabulary.ts';
import { equal, type Filter, filterBy } from './filter.ts';
import { bounds, type Page } from './page.ts';
import { document, numberIn, text } from './row.ts';
import type { Sql } from './sql.ts';

/** An entry before it has a time in text form. */
export type NewAuditEntry = Pick<AuditLog, 'actor' | 'object' | 'change'> & {
  /** A word of the contract, or of the field's wider vocabulary where that was chosen. */
  readonly action: AuditLog['action'] | WideAuditAction;
  readonly timeMs: number;
};

/** What a list or an export can be narrowed to. Bounds are Unix seconds, both inclusive. */
export interface AuditFilter {
  readonly created_before?: number | undefined;
  readonly created_after?: number | undefined;
  readonly actor_id?: string | undefined;
  readonly actor_type?: string | undefined;
  readonly actor_email?: string | undefined;
  readonly object_id?: string | undefined;
  readonly object_type?: string | undefined;
  readonly object_deployment_name?: string | undefined;
  /** Nothing that was appended after the entry of this place. */
  readonly lastSeq?: number | undefined;
}

/** Some entries in an order. */
interface Stretch {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
}

/** From so many entries on it pays to know how many there are. */
const FAR_ENTRIES = 1000;

/** The verbs for the audit log. */
export class AuditLogStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  append({ timeMs, ...entry }: NewAuditEntry): void {
    const stored = this.#withoutIdentities({ ...entry, time: new Date(timeMs).toISOString() });
    this.#sql.run(
      `INSERT INTO audit_logs (time_ms, action, actor_id, actor_type, actor_email, object_id,
         object_type, object_deployment_name, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        timeMs,
        entry.action,
        entry.actor.id,
        entry.actor.type,
        entry.actor.email ?? null,
        entry.object.id,
        entry.object.type,
        entry.object.deployment?.name ?? null,
        JSON.stringify(stored),
      ],
    );
  }

  /** The sequence number of the newest entry; 0 without entries. */
  lastSeq(): number {
    return numberIn(this.#sql, 'SELECT coalesce(max(seq), 0) AS n FROM audit_logs');
  }

  /** Entries by time, and by order of appending within one millisecond. */
  list(filter: AuditFilter, order: 'asc' | 'desc', page: Page): AuditLog[] {
    const conditions = auditFilter(filter);
    const [limit, offset] = bounds(page);
    const isFar = offset >= FAR_ENTRIES && conditions.where === '';
    const after = isFar ? this.count(filter) - offset : Number.POSITIVE_INFINITY;
    if (after >= offset) return this.#entries(conditions, { order, limit, offset });
    // The engine steps over what comes before: from the end there is less.
    const fromEnd = {
      limit: Math.min(limit, Math.max(after, 0)),
      offset: Math.max(after - limit, 0),
    };
    const opposite = order === 'asc' ? 'desc' : 'asc';
    return this.#entries(conditions, { order: opposite, ...fromEnd }).reverse();
  }

  #entries({ where, values }: Filter, { order, limit, offset }: Stretch): AuditLog[] {
    const direction = order === 'asc' ? 'ASC' : 'DESC';
    const query = `SELECT document FROM audit_logs ${where}
      ORDER BY time_ms ${direction}, seq ${direction} LIMIT ? OFFSET ?`;
    const rows = this.#sql.all(query, [...values, limit, offset]);
    return this.#withIdentities(rows.map((row) => document<AuditLog>(row, 'document')));
  }

  count(filter: AuditFilter): number {
    const { where, values } = auditFilter(filter);
    return numberIn(this.#sql, `SELECT count(*) AS n FROM audit_logs ${where}`, values);
  }

  /** Identities are stored once, in the row of the device, not in each entry. */
  #withoutIdentities<Entry extends Identified>(entry: Entry): Entry {
    const { actor, object } = entry;
    const known = this.#identities([actor.id, object.id]);
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

  #withIdentities(entries: readonly AuditLog[]): AuditLog[] {
    const ids = entries.flatMap(({ actor, object }) => [actor.id, object.id]);
    const known = this.#identities([...new Set(ids)]);
    return entries.map((entry) => {
      const actor = known.get(entry.actor.id);
      const object = known.get(entry.object.id);
      return {
        ...entry,
        ...(actor !== undefined && { actor: { ...entry.actor, identity_data: actor } }),
        ...(object !== undefined &&
          entry.object.device && {
            object: { ...entry.object, device: { ...entry.object.device, identity_data: object } },
          }),
      };
    });
  }

  /** Identities by the ids of devices, those that are gone among them. */
  #identities(ids: readonly string[]): Map<string, string> {
    const wanted = '(SELECT value FROM json_each(?))';
    const query = `SELECT id, identity FROM former_devices WHERE id IN ${wanted}
      UNION ALL SELECT id, identity FROM devices WHERE id IN ${wanted}`;
    const rows = this.#sql.all(query, [JSON.stringify(ids), JSON.stringify(ids)]);
    return new Map(rows.map((row) => [text(row, 'id'), text(row, 'identity')]));
  }
}

/** What of an entry names devices. */
type Identified = Pick<AuditLog, 'actor' | 'object'>;

function auditFilter(filter: AuditFilter) {
  const { created_before: before, created_after: after } = filter;
  return filterBy(
    before === undefined ? undefined : ['time_ms <= ?', before * 1000],
    after === undefined ? undefined : ['time_ms >= ?', after * 1000],
    filter.lastSeq === undefined ? undefined : ['seq <= ?', filter.lastSeq],
    equal('actor_id', filter.actor_id),
    equal('actor_type', filter.actor_type),
    equal('actor_email', filter.actor_email),
    equal('object_id', filter.object_id),
    equal('object_type', filter.object_type),
    equal('object_deployment_name', filter.object_deployment_name),
  );
}
