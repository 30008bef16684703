/** The entries of a long audit log, a second apart: as first contacts of devices leave them. */
import type { Store } from '../../../../server/store/store.ts';

/** As many as a transaction holds. */
const AT_ONCE = 10_000;
/** Long before the entries of the server itself. */
const FIRST_SECOND = Date.parse('1990-01-01T00:00:00Z') / 1000;
const DEVICES = 1000;

/** Appends them through the store. */
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

/** The query for so many entries from this one on. */
export function auditSpan(first: number, count: number) {
  return {
    created_after: String(FIRST_SECOND + first),
    created_before: String(FIRST_SECOND + first + count - 1),
  };
}
