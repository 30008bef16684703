/** The check of this machine's clock, alone and against that of a server. */
import { type Check, failed, passed, warned } from './check.ts';

/** No clock can be right before this date: the program did not exist. */
const EARLIEST_MS = Date.parse('2026-01-01T00:00:00Z');
/** Beyond this date, today's certificates and tokens have expired. */
const LATEST_MS = Date.parse('2100-01-01T00:00:00Z');
/** Tolerated offset: the Date header has seconds only, and the answer takes some time. */
const OFFSET_FREE_MS = 5000;
/**
 * From this offset on, new links and certificates are not valid yet, or no longer, on the other
 * side.
 */
const OFFSET_MAX_MS = 300_000;
const setClock = 'Set the clock, best by NTP: `timedatectl set-ntp true`.';

/** The time that a server reports. */
interface ServerTime {
  /** Milliseconds since the Unix epoch. */
  readonly dateMs?: number;
  readonly isSteered: boolean;
}

/** Checks that the clock is plausible, and close to that of the server, if any. */
export function clockCheck(nowMs: number, server: ServerTime | undefined): Check {
  const name = 'clock';
  const now = new Date(nowMs).toISOString();
  if (nowMs < EARLIEST_MS || nowMs > LATEST_MS) {
    return failed(name, `The clock shows ${now}, which cannot be right.`, setClock);
  }
  if (server?.dateMs === undefined) return passed(name, `The clock shows ${now}.`);
  const offsetMs = nowMs - server.dateMs;
  const offset = `${Math.abs(Math.round(offsetMs / 1000))} s ${offsetMs < 0 ? 'behind' : 'ahead of'}`;
  const found = `The clock shows ${now}, ${offset} the server's.`;
  if (Math.abs(offsetMs) <= OFFSET_FREE_MS) return passed(name, found);
  if (server.isSteered) {
    return warned(
      name,
      `${found} The server reports that its time is not the system's.`,
      'Reset the clock of the server if this is not intended.',
    );
  }
  const row = Math.abs(offsetMs) <= OFFSET_MAX_MS ? warned : failed;
  return row(name, found, setClock);
}
