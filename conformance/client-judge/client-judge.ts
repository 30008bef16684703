/**
 * Judges device clients by the duties that one exchange, or several events of a device, can
 * show. It reads only: whoever has events hands them over in the order in which they ended. What it
 * records is bounded for each device and in the number of devices.
 */
import { isPollOperation } from '../../fixtures/contract/operation-ids.ts';
import type {
  ClientEvent,
  ClientExchange,
  ClientSocketEvent,
  ServerEvent,
} from '../../fixtures/control/client-event.ts';
import type { DutyState } from '../../fixtures/control/clients.ts';
import { appliedChecks, type PassiveCheck, type Violation } from '../passive/check.ts';
import type { JudgedExchange } from '../passive/judged-exchange.ts';
import type { ClientHistory } from './client-history.ts';
import type { ClientVerdict, DutyViolation } from './client-verdict.ts';
import { duties } from './duties/duties.ts';
import type { Duty, DutyHistory, EventMatcher, Reaction } from './duty.ts';
import { DOWNLOAD_RETRY_MS, hasReceivedResponse, isInFlight, patienceMs } from './exemptions.ts';
import { FleetHistory } from './fleet-history.ts';
import type { DueReaction } from './history-items.ts';
import { type JudgedClient, newClient, stateOf, verdictOf } from './judged-client.ts';
import { judgedExchange, rowOf } from './recognized-exchange.ts';
import { isRepeat } from './repeated-poll.ts';

/** Maximum number of devices with a history; that of the one that was silent longest is dropped. */
const DEVICES_MAX = 10_000;
/** Number of violations of one duty that are kept; further ones are counted. */
const VIOLATIONS_MAX = 5;
const reactions = duties.flatMap((duty) => (duty.reaction ? [[duty, duty.reaction] as const] : []));
/** The part of a duty that judges an exchange. */
interface DutyCheck
  extends Pick<PassiveCheck<DutyHistory>, 'operations' | 'applies' | 'violation'> {
  readonly duty: Duty;
}

const dutyChecks = duties.flatMap((duty): readonly DutyCheck[] => {
  const { operations, applies, violation = () => undefined } = duty;
  return applies ? [{ duty, applies, violation, ...(operations && { operations }) }] : [];
});
const checksByOperation = new Map<string, readonly DutyCheck[]>();

/** Returns the duties that look at the exchanges of an operation. */
function checksOf(operation: string): readonly DutyCheck[] {
  const cached = checksByOperation.get(operation);
  if (cached) return cached;
  const checks = dutyChecks.filter(({ operations }) => operations?.includes(operation) ?? true);
  checksByOperation.set(operation, checks);
  return checks;
}

/** Called for each violation as it is found. */
export type OnViolation = (duty: Duty, violation: DutyViolation) => void;

/** Judges the events of many devices. */
export class ClientJudge {
  readonly #clients = new Map<string, JudgedClient>();
  readonly #fleet = new FleetHistory();
  readonly #onViolation: OnViolation;
  readonly #intervalMs: number | undefined;
  #exchanges = 0;

  /**
   * @param onViolation called for each violation
   * @param intervalMs poll interval of the clients, for those that have not polled often enough
   */
  constructor(onViolation: OnViolation = () => undefined, intervalMs?: number) {
    this.#onViolation = onViolation;
    this.#intervalMs = intervalMs;
  }

  /** Number of exchanges of devices that were judged. */
  get exchanges(): number {
    return this.#exchanges;
  }

  /** Judges an event. Call it in the order in which the events ended. */
  judge(event: ClientEvent): void {
    if (event.kind === 'server') this.#judgeServerEvent(event);
    else if (event.kind === 'socket') this.#judgeSocketEvent(event);
    else this.#judgeExchange(event);
  }

  /**
   * Judges a poll that is equal to the last one of the device, and was answered alike with no
   * update. Returns false, and does nothing, unless a repeat shows nothing new.
   */
  recordRepeat(name: string, times: Pick<ClientExchange, 'sentMs' | 'endedMs'>): boolean {
    const client = this.#clients.get(name);
    if (!client?.lastIdlePoll || client.history.breaksPollLimit(times)) return false;
    client.exchanges += 1;
    this.#exchanges += 1;
    client.history.recordRepeatedPoll(times);
    return true;
  }

  /** Gives a device another name, which replaces an earlier device of that name. */
  rename(former: string, name: string): void {
    const client = this.#clients.get(former);
    this.#clients.delete(former);
    if (client) this.#clients.set(name, client);
  }

  /** Forgets a device; all of them without a name. */
  forget(name?: string): void {
    if (name === undefined) this.#clients.clear();
    else this.#clients.delete(name);
  }

  /** Names of the devices, in the order in which they were last seen. */
  get clients(): readonly string[] {
    return [...this.#clients.keys()];
  }

  /** Returns the state of each duty of a device, in the order of the list of duties. */
  states(name: string): readonly DutyState[] {
    const client = this.#clients.get(name);
    return client ? duties.map((duty) => stateOf(duty, client)) : [];
  }

  /** Returns how much of a device was seen; undefined if no event named it. */
  exchangeCounts(name: string): Pick<ClientVerdict, 'exchanges' | 'dropped'> | undefined {
    return this.#clients.get(name);
  }

  /** Returns what is known about every device, in the order in which they were last seen. */
  verdicts(): readonly ClientVerdict[] {
    return [...this.#clients].map(([name, client]) => verdictOf(name, client));
  }

  /** Returns what is known about a device; undefined if no event named it. */
  verdict(name: string): ClientVerdict | undefined {
    const client = this.#clients.get(name);
    return client && verdictOf(name, client);
  }

  /**
   * Ends the observation: a reaction that has been due for long is missing.
   * @param hasCrashed true if the clients have ended with an error: then every due reaction is
   * missing
   */
  end(nowMs: number, hasCrashed = false): void {
    for (const client of this.#clients.values()) this.#endOf(client, nowMs, hasCrashed);
  }

  #judgeExchange(event: ClientExchange): void {
    const earlierClient = this.#clients.get(event.client);
    const isUnchanged = earlierClient !== undefined && isRepeat(earlierClient, event);
    const row = isUnchanged ? undefined : rowOf(event, earlierClient?.history);
    if (row === undefined && !isUnchanged) return;
    const client = this.#clientOf(event.client);
    client.exchanges += 1;
    this.#exchanges += 1;
    if (row === undefined) {
      client.history.recordRepeatedPoll(event);
      return;
    }
    const exchange = judgedExchange(row, event);
    const history: DutyHistory = { client: client.history, fleet: this.#fleet, event };
    let breaksDuty = false;
    const location = { journalEntry: event.journalEntry, operation: row.id, atMs: event.endedMs };
    for (const { check, violation } of appliedChecks(checksOf(row.id), exchange, history)) {
      if (this.#decide(client, check.duty, violation, location)) breaksDuty = true;
    }
    for (const [duty, reaction] of reactions) {
      if (this.#advance(client, duty, reaction, exchange, history)) breaksDuty = true;
    }
    client.history.record(exchange, event);
    const isIdle = event.status === 204 && isPollOperation(row) && hasReceivedResponse(event);
    const { due, authentication } = client.history;
    if (!isIdle) client.busyMs = event.endedMs;
    // Shortly after another exchange a poll is exempt from what it breaks later.
    const isSettled = !isInFlight(event, client.busyMs) && due.size === 0;
    const isRepeatable = isIdle && isSettled && !authentication.usesFormerToken && !breaksDuty;
    client.lastIdlePoll = isRepeatable ? event : undefined;
  }

  /** Judges what an exchange shows of a due reaction; returns true if it breaks the duty. */
  #advance(
    client: JudgedClient,
    duty: Duty,
    reaction: Reaction,
    exchange: JudgedExchange,
    history: DutyHistory,
  ): boolean {
    const { event } = history;
    let isBroken = false;
    const due = client.history.due.get(duty.id);
    const matches = (matcher: EventMatcher | undefined): boolean =>
      matcher?.exchange?.(exchange, history) ?? false;
    // A request that began before the device could know is no response to it.
    if (due && event.sentMs >= due.sinceMs) {
      due.exchanges += 1;
      if (isPollOperation(exchange.operation)) due.polls += 1;
      const location = {
        journalEntry: event.journalEntry,
        operation: exchange.operation.id,
        atMs: event.endedMs,
        contradicts: due.journalEntry,
      };
      const violation = reaction.brokenBy?.(exchange, history, due);
      isBroken = this.#endDue(client, duty, violation ?? reactionIn(reaction, matches), location);
    }
    if (!client.history.due.has(duty.id) && matches(reaction.dueAfter)) {
      client.history.due.keep(duty.id, newDue(event.journalEntry, event.endedMs));
    }
    return isBroken;
  }

  #judgeSocketEvent(event: ClientSocketEvent): void {
    const client = this.#clientOf(event.client);
    const history = { client: client.history, fleet: this.#fleet };
    client.lastIdlePoll = undefined;
    const location = { journalEntry: event.journalEntry, operation: 'socket', atMs: event.atMs };
    const happened = (matcher: EventMatcher | undefined): boolean =>
      matcher?.socket?.(event, history) ?? false;
    for (const duty of duties) {
      this.#endDue(client, duty, duty.socket?.(event, history), location);
      const { reaction } = duty;
      if (reaction === undefined) continue;
      if (client.history.due.has(duty.id)) {
        this.#endDue(client, duty, reactionIn(reaction, happened), location);
      } else if (happened(reaction.dueAfter)) {
        client.history.due.keep(duty.id, newDue(event.journalEntry, event.atMs));
      }
    }
    client.history.recordSocketEvent(event);
  }

  #judgeServerEvent(serverEvent: ServerEvent): void {
    const { client: name, event, atMs, count = 1 } = serverEvent;
    // What an event without a device says concerns those that are known.
    const all = name === undefined ? [...this.#clients.values()] : [this.#clientOf(name)];
    const concerned = all.filter(({ history }) => isConcerned(serverEvent, history));
    for (const client of concerned) {
      client.lastIdlePoll = undefined;
      if (event === 'events-dropped') {
        client.dropped += count;
        client.history = client.history.afterGap();
      }
      for (const { id, reaction } of duties) {
        if (reaction?.cancelledBy?.serverEvents?.includes(event)) client.history.due.delete(id);
      }
      if (event === 'scene-ended') {
        this.#endOf(client, atMs);
        const location = { journalEntry: 0, operation: 'no-request', atMs };
        for (const duty of duties) {
          const { metAtEndOfScene: scene } = duty;
          const isEndOfItsScene = scene !== undefined && scene === serverEvent.about;
          if (isEndOfItsScene && !client.counts.has(duty.id))
            this.#decide(client, duty, undefined, location);
        }
      }
      client.history.recordServerEvent(serverEvent);
      for (const { id, reaction } of duties) {
        const { serverEvents, when } = reaction?.dueAfter ?? {};
        const isDue = serverEvents?.includes(event) && (when?.(client.history) ?? true);
        if (isDue) client.history.due.keep(id, newDue(0, atMs));
      }
    }
  }

  #endOf(client: JudgedClient, nowMs: number, hasCrashed = false): void {
    const { paceMs, chosenPauseMs, deployments } = client.history;
    const patience = hasCrashed ? Number.NEGATIVE_INFINITY : patienceMs(paceMs, chosenPauseMs);
    const { failedDownloadMs = Number.NEGATIVE_INFINITY } = deployments;
    const isRetrying = deployments.active && nowMs - failedDownloadMs < DOWNLOAD_RETRY_MS;
    if (isRetrying && !hasCrashed) return;
    for (const duty of duties) {
      const due = client.history.due.get(duty.id);
      if (due === undefined || !duty.reaction || nowMs - due.sinceMs < patience) continue;
      const seconds = ((nowMs - due.sinceMs) / 1000).toFixed(0);
      const actual = hasCrashed ? 'end with an error' : `nothing of the kind in ${seconds} s`;
      const violation = { part: 'the device', expected: duty.reaction.expected, actual };
      const location = { journalEntry: due.journalEntry, operation: 'no-request', atMs: nowMs };
      this.#endDue(client, duty, violation, location);
    }
  }

  /**
   * Ends what was due of a duty, by its reaction; without one, it stays due.
   * @returns whether the reaction breaks the duty
   */
  #endDue(
    client: JudgedClient,
    duty: Duty,
    reaction: ReactionOutcome | undefined,
    location: Omit<DutyViolation, 'message'>,
  ): boolean {
    if (reaction === undefined) return false;
    client.history.due.delete(duty.id);
    if (reaction === 'cancelled') return false;
    return this.#decide(client, duty, reaction === 'met' ? undefined : reaction, location);
  }

  /** Counts a decision on a duty, with its violation; returns true if there is one. */
  #decide(
    { counts }: JudgedClient,
    duty: Duty,
    violation: Violation | undefined,
    location: Omit<DutyViolation, 'message'>,
  ): boolean {
    const dutyCounts = counts.get(duty.id) ?? { judged: 0, violationCount: 0, violations: [] };
    counts.set(duty.id, dutyCounts);
    dutyCounts.judged += 1;
    if (violation === undefined) return false;
    const { part, expected, actual } = violation;
    const dutyViolation = { ...location, message: `${part} must ${expected}, not ${actual}` };
    dutyCounts.violationCount += 1;
    if (dutyCounts.violations.length < VIOLATIONS_MAX) dutyCounts.violations.push(dutyViolation);
    this.#onViolation(duty, dutyViolation);
    return true;
  }

  #clientOf(name: string): JudgedClient {
    // Exchanges of unknown devices have nothing in common.
    if (name === '') return newClient();
    const client = this.#clients.get(name) ?? newClient(this.#intervalMs);
    this.#clients.delete(name);
    this.#clients.set(name, client);
    const [oldest] = this.#clients.keys();
    if (this.#clients.size > DEVICES_MAX && oldest !== undefined) this.#clients.delete(oldest);
    return client;
  }
}

/** The end of what was due of a duty: a violation, the reaction itself, or its cancellation. */
type ReactionOutcome = Violation | 'met' | 'cancelled';

function reactionIn(
  { metBy, cancelledBy }: Reaction,
  happened: (matcher: EventMatcher | undefined) => boolean,
): ReactionOutcome | undefined {
  if (happened(metBy)) return 'met';
  return happened(cancelledBy) ? 'cancelled' : undefined;
}

/** An abort without a device concerns those that were offered the deployment. */
function isConcerned(
  { event, client, about = '' }: ServerEvent,
  { deployments }: ClientHistory,
): boolean {
  return event !== 'deployment-aborted' || client !== undefined || deployments.offers.has(about);
}

function newDue(journalEntry: number, sinceMs: number): DueReaction {
  return { journalEntry, sinceMs, exchanges: 0, polls: 0 };
}
