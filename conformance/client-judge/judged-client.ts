/** One device as judged so far, and the verdicts on it. */
import type { ClientExchange } from '../../fixtures/control/client-event.ts';
import type { DutyState } from '../../fixtures/control/clients.ts';
import { ClientHistory } from './client-history.ts';
import type { ClientVerdict, DutyVerdict, DutyViolation } from './client-verdict.ts';
import { duties } from './duties/duties.ts';
import type { Duty } from './duty.ts';
import { nextStep } from './scene-names.ts';

/** Areas of which a client may use none. */
const optionalAreas: ReadonlySet<string> = new Set([
  'map',
  'inventory',
  'config',
  'alert',
  'monitor',
  'connect',
]);

interface DutyCounts {
  judged: number;
  violationCount: number;
  readonly violations: DutyViolation[];
}

/** One device with what was judged. */
export interface JudgedClient {
  history: ClientHistory;
  readonly counts: Map<string, DutyCounts>;
  exchanges: number;
  dropped: number;
  /** The last exchange if a repeat of it shows nothing new. */
  lastIdlePoll: ClientExchange | undefined;
  /** When the last exchange ended that was no idle poll. */
  busyMs: number;
}

export function newClient(intervalMs?: number): JudgedClient {
  const history = new ClientHistory(intervalMs);
  return {
    history,
    counts: new Map(),
    exchanges: 0,
    dropped: 0,
    lastIdlePoll: undefined,
    busyMs: 0,
  };
}

export function verdictOf(name: string, client: JudgedClient): ClientVerdict {
  const { exchanges, dropped } = client;
  return { client: name, exchanges, dropped, duties: duties.map((duty) => dutyIn(duty, client)) };
}

function dutyIn(duty: Duty, client: JudgedClient): DutyVerdict {
  const { history, counts } = client;
  const { judged, violations, violationCount } = counts.get(duty.id) ?? {
    judged: 0,
    violationCount: 0,
    violations: [],
  };
  const state = stateOf(duty, client);
  const decision = { duty: duty.id, state, judged, violations, violationCount };
  if (state === 'broken' || state === 'met') return decision;
  const observation = state === 'observed' ? duty.observation?.(history) : undefined;
  if (state === 'observed')
    return { ...decision, ...(observation !== undefined && { observation }) };
  const openSinceMs = history.due.get(duty.id)?.sinceMs;
  if (state === 'open' && openSinceMs !== undefined) return { ...decision, openSinceMs };
  return { ...decision, next: nextStep(duty.scene) };
}

export function stateOf(duty: Duty, { history, counts, dropped }: JudgedClient): DutyState {
  const { id, level, observation } = duty;
  const { judged = 0, violationCount = 0 } = counts.get(id) ?? {};
  if (violationCount > 0) return 'broken';
  if (observation?.(history) !== undefined) return 'observed';
  if (history.due.has(id)) return 'open';
  if (judged > 0) return level === 'observed' ? 'observed' : 'met';
  return undecidedState(duty, history, dropped);
}

/** Returns why nothing is known about a duty. */
function undecidedState(duty: Duty, history: ClientHistory, dropped: number): DutyState {
  const [area = ''] = duty.id.split('.');
  if (dropped > 0) return 'not-judged';
  const hasDuty = duty.appliesToClient?.(history) ?? true;
  if (!hasDuty || (optionalAreas.has(area) && !isUsed(area, history))) return 'not-applicable';
  const isHidden = !duty.applies && !duty.socket && !duty.reaction && !duty.observation;
  return isHidden ? 'not-observable' : 'not-tested';
}

/** A client uses control maps if it announces them, and alerts are part of the monitor. */
function isUsed(area: string, { areas, announcesMaps }: ClientHistory): boolean {
  if (area === 'map') return announcesMaps || areas.has(area);
  return areas.has(area === 'alert' ? 'monitor' : area);
}
