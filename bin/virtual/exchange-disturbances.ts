/** Decides the delays and faults of the exchanges between a fleet and a server in memory. */
import type { Random } from '../../fixtures/base/random.ts';
import { deviceOfCaller } from '../../simulator/api-client/session.ts';
import { PowerLoss } from '../../simulator/network/errors.ts';
import type { InProcessSubject } from '../../simulator/network/in-process-transport.ts';
import type { ExchangeFault } from '../../simulator/plan/exchange-faults.ts';
import type { ExchangeDisturbance } from './memory-transport.ts';

/**
 * Longest one-way delay in milliseconds: enough for exchanges of different devices to overtake each
 * other.
 */
const DELAY_MAX_MS = 50;
const LASTING_MS = 10_000;

/** The delays and faults of a run. */
interface DisturbanceOptions {
  readonly faults: readonly ExchangeFault[];
  /** Generator of the delays; when absent, no exchange is delayed. */
  readonly delays?: Random | undefined;
}

/**
 * Returns a function that decides the delays and faults of each exchange; undefined for a run
 * without any.
 */
export function exchangeDisturbances({
  faults,
  delays,
}: DisturbanceOptions):
  | ((subject: InProcessSubject) => ExchangeDisturbance | undefined)
  | undefined {
  if (faults.length === 0 && delays === undefined) return undefined;
  const counts = faults.map((fault) => ({ fault, count: 0 }));
  return ({ caller, operation }) => {
    const device = deviceOfCaller(caller);
    const callerCounts = counts.filter(
      ({ fault }) =>
        fault.device === device && (fault.operation === undefined || fault.operation === operation),
    );
    for (const each of callerCounts) each.count++;
    const due = callerCounts.find(({ fault, count }) => count === fault.exchange)?.fault;
    if (due === undefined && delays === undefined) return undefined;
    return {
      requestDelayMs: delays?.integer(0, DELAY_MAX_MS) ?? 0,
      responseDelayMs: delays?.integer(0, DELAY_MAX_MS) ?? 0,
      isRequestLost: due?.name === 'request-lost' || due?.name === 'ack-lost',
      replacement: due && replacementFor(due),
      isNotStored: due?.name === 'not-stored',
      restartsForMs: due?.name === 'server-restart' ? (due.lastingMs ?? LASTING_MS) : undefined,
    };
  };
}

function replacementFor({
  name,
  lastingMs = LASTING_MS,
}: ExchangeFault): ExchangeDisturbance['replacement'] {
  if (name === 'not-stored') return undefined;
  if (name === 'ack-lost') return 'success';
  if (name === 'power-loss') return new PowerLoss(lastingMs);
  return Object.assign(new Error(name), { code: 'ECONNRESET' });
}
