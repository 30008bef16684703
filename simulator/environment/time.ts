/** The check of this machine's clock, by itself and against a server's. */
import { type Check, failed, passed, warned } from './check.ts';

/** This program is not older than that. */
const EARLIEST_MS = Date.parse('2026-01-01T00:00:00Z');
/** Beyond it certificates and tokens of today mean nothing. */
const LATEST_MS = Date.parse('2100-01-01T00:00:00Z');
/** The Date header counts in seconds, and the answer takes its time. */
const OFFSET_FREE_MS = 5000;
/** From here on links and certificates that begin now are not valid yet, or no more, elsewhere. */
const OFFSET_MAX_MS = 300_000;
const setClock = 'Set the clock, best by NTP: `timedatectl set-ntp true`.';

/** What a server says of its time. */
interface ServerTime {
  /** Milliseconds since the Unix epoch. */
  readonly dateMs?: number;
  readonly isSteered: boolean;
}

/** Is the clock sane, and close to the server's, where there is one? */
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
      `${found} The server reports that its clock was set or is advanced by hand.`,
      'Reset the server's clock if this is not intended.',
    );
  }
  const row = Math.abs(offsetMs) <= OFFSET_MAX_MS ? warned : failed;
  return row(name, found, setClock);
}
