/**
 * Fills a long audit log with entries at intervals of one second, like those of devices' first
 * contacts.
 */
import type { Store } from '../../../../server/store/store.ts';

/** Number of entries per transaction. */
const AT_ONCE = 10_000;
/** Time of the first entry, long before the server's own entries. */
const FIRST_SECOND = Date.parse('1990-01-01T00:00:00Z') / 1000;
const DEVICES = 1000;

/** Appends the entries through the store. */
export function fillAuditLog({ auditLogs, atomically }: Store, entries: number): void {
  for (let first = 0; first < entries; first += AT_ONCE) {
    atomically(() => {
      for (let nr = first; nr < Math.min(first + AT_ONCE, entries); nr++) {
        const id = `device-${nr % DEVICES}`;
        const identity = JSON.stringify({ serial: `audited-${nr % DEVICES}` });
        auditLogs.append({
          timeMs: (FIRST_SECOND + nr) * 1000,
          action: 'create',
          actor: { id, type: 'device', identity_data: identity },
          object: { id, type: 'device', device: { id, identity_data: identity } },
          change: 'first request; pending until a user accepts it',
        });
      }
    });
  }
}

/** Returns the query for `count` entries from the entry `first` on. */
export function auditSpan(first: number, count: number) {
  return {
    created_after: String(FIRST_SECOND + first),
    created_before: String(FIRST_SECOND + first + count - 1),
  };
}
