/** Checks this machine's clock, by itself and against the clock of a server. */
import { type EnvironmentCheck, failedCheck, passedCheck, warningCheck } from './check.ts';

/** Earliest plausible time; the program did not exist before this date. */
const EARLIEST_MS = Date.parse('2026-01-01T00:00:00Z');
/** Latest plausible time; today's certificates and tokens have expired by this date. */
const LATEST_MS = Date.parse('2100-01-01T00:00:00Z');
/** Tolerated offset, because the Date header has whole seconds and the response takes some time. */
const OFFSET_FREE_MS = 5000;
/**
 * Offset beyond which the other side may find new links and certificates not yet valid, or expired.
 */
const OFFSET_MAX_MS = 300_000;
const setClock = 'Set the clock, best by NTP: `timedatectl set-ntp true`.';

/** The time in a response of the server. */
interface ServerTime {
  /** Milliseconds since the Unix epoch. */
  readonly dateMs?: number;
  readonly isAdjusted: boolean;
}

/** Checks that the clock is plausible and, with a server, close to the server's clock. */
export function clockCheck(nowMs: number, server: ServerTime | undefined): EnvironmentCheck {
  const name = 'clock';
  const nowText = new Date(nowMs).toISOString();
  if (nowMs < EARLIEST_MS || nowMs > LATEST_MS) {
    return failedCheck(name, `The clock shows ${nowText}, which cannot be right.`, setClock);
  }
  if (server?.dateMs === undefined) return passedCheck(name, `The clock shows ${nowText}.`);
  const offsetMs = nowMs - server.dateMs;
  const offset = `${Math.abs(Math.round(offsetMs / 1000))} s ${offsetMs < 0 ? 'behind' : 'ahead of'}`;
  const finding = `The clock shows ${nowText}, ${offset} the server's.`;
  if (Math.abs(offsetMs) <= OFFSET_FREE_MS) return passedCheck(name, finding);
  if (server.isAdjusted) {
    return warningCheck(
      name,
      `${finding} The server reports that its time is not the system's.`,
      'Reset the clock of the server if this is not intended.',
    );
  }
  const row = Math.abs(offsetMs) <= OFFSET_MAX_MS ? warningCheck : failedCheck;
  return row(name, finding, setClock);
}
