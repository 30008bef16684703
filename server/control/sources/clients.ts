/** The verdicts of the client judge on the devices of a tenant, as plain data. */
import { yieldInTurns } from '../../../fixtures/base/clock.ts';
import { type DutyState, dutyStates } from '../../../fixtures/control/clients.ts';
import type { ResponseOf } from '../../../fixtures/control/operations.ts';
import type { ClientFeed, JudgedTenant } from '../../client-feed/client-feed.ts';
import type { ClientDuty, ClientStates } from '../../client-feed/client-reader.ts';
import { CLIENTS_MAX } from '../../client-feed/watched-clients.ts';
import { maskText } from '../../http/masking.ts';
import { ambiguousNameSentence, findNamedDevice } from '../../journal/known-devices.ts';
import { journalOf } from '../../journal/tenant-journal.ts';
import type { Tenant } from '../../tenants/tenants.ts';

/** Time for judging what waits while a caller of the control API waits, in milliseconds. */
export const JUDGING_MAX_MS = 200;
/** Number of clients that are named for a broken duty. */
const NAMED_MAX = 5;

type ClientsView = ResponseOf<'GET /clients'>;
export type ClientView = ResponseOf<'GET /clients/{device}'>;

/** Returns all clients of a tenant, and each duty over all of them. */
export async function clientsView(feed: ClientFeed, tenant: Tenant): Promise<ClientsView> {
  const judged = await feed.judgeWaitingEvents(tenant, JUDGING_MAX_MS);
  const { reader, clients } = judged;
  const overAll = reader.duties.map(() => new Map<DutyState, number>());
  const brokenBy = reader.duties.map((): string[] => []);
  const rows: ClientsView['clients'][number][] = [];
  for await (const states of yieldInTurns(reader.clients())) {
    states.states.forEach((state, at) => {
      const counts = overAll[at];
      counts?.set(state, (counts.get(state) ?? 0) + 1);
      if (state === 'broken' && (brokenBy[at]?.length ?? NAMED_MAX) < NAMED_MAX)
        brokenBy[at]?.push(states.client);
    });
    rows.push(clientRow(judged, tenant, states));
  }
  return {
    devicesMax: CLIENTS_MAX,
    eventsOverLimit: clients.leftOut,
    judgeErrors: feed.failed,
    dropped: clients.dropped,
    queuedEvents: feed.waiting,
    clients: rows.toSorted((one, other) => other.brokenMusts - one.brokenMusts),
    duties: reader.duties.map((duty, at) => {
      const counts = overAll[at] ?? new Map<DutyState, number>();
      const state = dutyStates.find((each) => counts.has(each)) ?? 'not-tested';
      return { ...duty, state, counts: Object.fromEntries(counts), brokenBy: brokenBy[at] ?? [] };
    }),
  };
}

function clientRow({ reader, clients }: JudgedTenant, tenant: Tenant, states: ClientStates) {
  const { client, exchanges, dropped } = states;
  const isBrokenMust = (state: DutyState, at: number): boolean =>
    state === 'broken' && reader.duties[at]?.level === 'must';
  return {
    client,
    exchanges,
    dropped,
    ...knownOf(tenant, client, clients.identityOf(client)),
    counts: countsOf(states.states, reader.duties),
    brokenMusts: states.states.filter(isBrokenMust).length,
  };
}

/** Counts states; a duty that is only observed counts once something was observed. */
function countsOf(
  states: readonly DutyState[],
  duties: readonly Pick<ClientDuty, 'level'>[],
): ClientsView['clients'][number]['counts'] {
  const counts: Partial<Record<DutyState, number>> = {};
  states.forEach((state, at) => {
    if (duties[at]?.level === 'observed' && state !== 'observed') return;
    counts[state] = (counts[state] ?? 0) + 1;
  });
  return counts;
}

function knownOf({ store }: Tenant, client: string, sent: string | undefined) {
  const device = store.devices.find(client);
  const identity = device?.identity ?? sent;
  return {
    ...(identity !== undefined && { identity: maskText(identity) }),
    ...(device && { status: device.status }),
  };
}

/**
 * Returns the duties of one client; undefined if it did nothing yet.
 * @param named ID or identity value of a device, or the name of a client
 * @param limitMs longest time for judging what waits; unlimited by default
 */
export async function clientView(
  feed: ClientFeed,
  tenant: Tenant,
  {
    named,
    nowMs,
    limitMs,
  }: { readonly named: string; readonly nowMs: number; readonly limitMs?: number },
): Promise<ClientView | undefined> {
  const { reader, clients } = await feed.judgeWaitingEvents(tenant, limitMs);
  const namedDevice = findNamedDevice(tenant.store, named);
  const client = 'id' in namedDevice ? namedDevice.id : named;
  const device = 'id' in namedDevice ? namedDevice.id : undefined;
  const open = device === undefined ? undefined : tenant.store.deviceDeployments.listOpen(device);
  const deployment = open?.deviceDeployments[0]?.deployment.id;
  const judged = reader.client(client, { device, deployment });
  if (judged === undefined) return undefined;
  const { exchanges, dropped, duties } = judged;
  const states = duties.map(({ state }) => state);
  return {
    client,
    exchanges,
    dropped,
    ...knownOf(tenant, client, clients.identityOf(client)),
    counts: countsOf(states, duties),
    duties: duties.map(({ openSinceMs, violations, ...duty }) => ({
      ...duty,
      violations: violations.map(({ atMs, ...violation }) => ({
        ...violation,
        message: maskText(violation.message),
        secondsAgo: secondsBetween(atMs, nowMs),
        ...requestLine(tenant, violation.journalEntry),
      })),
      ...(openSinceMs !== undefined && { openSeconds: secondsBetween(openSinceMs, nowMs) }),
    })),
  };
}

function secondsBetween(earlierMs: number, nowMs: number): number {
  return Math.max(0, Math.round((nowMs - earlierMs) / 1000));
}

/** Returns the request of an entry as one line, if the journal still has it. */
function requestLine(tenant: Tenant, sequence: number): { readonly request?: string } {
  const entry = sequence === 0 ? undefined : journalOf(tenant).at(sequence);
  if (entry?.kind !== 'exchange') return {};
  const { method, url, status } = entry;
  const outcome = status === 0 ? 'without a response' : `-> ${status}`;
  return { request: maskText(`${method} ${url} ${outcome}`) };
}

/** Returns a sentence about a client of which nothing is known. */
export function unknownClient(tenant: Tenant, named: string): string {
  const device = findNamedDevice(tenant.store, named);
  if ('id' in device) return 'the device has sent nothing since the server started';
  return maskText(ambiguousNameSentence(device, 'there are no devices'));
}
