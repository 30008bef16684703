/**
 * Judges device clients by the exchanges of a journal: the duties of a device that one exchange, or
 * the sequence of its exchanges, can show.
 */
import { storageOperations } from '../../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { defaultHeaderPrefix, vendorNames } from '../../../fixtures/contract/vendor-names.ts';
import { exchangeIn } from '../../recordings/journal.ts';
import type { FullExchange } from '../../recordings/recording.ts';
import { membersOf } from '../../target/json-members.ts';
import { recognized } from '../../target/operation-at.ts';
import { JudgedExchange } from '../judged-exchange.ts';
import { absolute } from '../recording.ts';
import { appliedRules } from '../rule.ts';
import { authenticationDuties } from './authentication.ts';
import { ClientMemory, digestOf, FleetMemory, isOfDevice } from './client-memory.ts';
import { deploymentDuties } from './deployments.ts';
import type { Duty, Finding } from './duty.ts';
import { httpDuties } from './http.ts';
import { reportDuties } from './reports.ts';

export type { Finding } from './duty.ts';

/** Every duty that a journal can show. */
export const duties: readonly Duty[] = [
  ...authenticationDuties,
  ...deploymentDuties,
  ...reportDuties,
  ...httpDuties,
];

/** Maximum number of devices that are remembered; the one that was silent longest is forgotten. */
const DEVICES_MAX = 10_000;

const { requestId: requestIdHeader } = vendorNames(defaultHeaderPrefix);

/**
 * Judges the exchanges of many devices. What it remembers is bounded for each device and in the
 * number of devices, so a journal may have any length.
 */
export class Lint {
  readonly #clients = new Map<string, ClientMemory>();
  readonly #fleet = new FleetMemory();
  #exchanges = 0;

  /** Number of exchanges of devices that were judged. */
  get exchanges(): number {
    return this.#exchanges;
  }

  /**
   * Judges one entry of a journal, as the control API returns it with headers and bodies. Call it
   * in the order of the entries.
   * @throws RecordingError if the entry is not one of a journal
   */
  see(entry: unknown): readonly Finding[] {
    const { sequence, device } = membersOf(entry);
    const exchange = exchangeIn('the journal', `entry ${sequence}`, entry);
    const row = exchange && rowOf(exchange);
    if (exchange === undefined || row === undefined) return [];
    const judged = judgedExchange(row, exchange);
    const { id, identity } = membersOf(device);
    const client = this.#clientOf(id ?? (typeof identity === 'string' && digestOf(identity)));
    const memory = { client, fleet: this.#fleet };
    this.#exchanges += 1;
    const findings = appliedRules(duties, judged, memory).flatMap(({ rule, violation }) => {
      if (violation === undefined) return [];
      const { id: duty, level, sentence, source, wayOut } = rule;
      const { where, must, seen } = violation;
      const text = `${where} must ${must}, not ${seen}`;
      const place = { entry: Number(sequence), operation: row.id };
      return [{ duty, level, sentence, source, ...place, seen: text, wayOut }];
    });
    client.learn(judged);
    return findings;
  }

  #clientOf(name: unknown): ClientMemory {
    // Exchanges of unknown devices have nothing in common.
    if (typeof name !== 'string') return new ClientMemory();
    const client = this.#clients.get(name) ?? new ClientMemory();
    this.#clients.delete(name);
    this.#clients.set(name, client);
    const [oldest] = this.#clients.keys();
    if (this.#clients.size > DEVICES_MAX && oldest !== undefined) this.#clients.delete(oldest);
    return client;
  }
}

/** The operations that devices call, by id. */
const deviceRows = new Map<string, Operation>(
  Object.entries({ ...operations, ...storageOperations }).filter(([, row]) => isOfDevice(row)),
);

function rowOf({ method, pathname }: FullExchange): Operation | undefined {
  const { row } = recognized(method, pathname);
  return row && deviceRows.get(row.id);
}

function judgedExchange(row: Operation, exchange: FullExchange): JudgedExchange {
  const { status, sentMs, endedMs } = exchange;
  const headers = exchange.requestHeaders();
  const value = exchange.requestBody();
  const body = value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
  const bodyBytes = Number(headers['content-length'] ?? Buffer.byteLength(body ?? ''));
  const bytes = exchange.responseBytes();
  const answer = {
    status,
    headers: exchange.responseHeaders(),
    bytes: bytes ?? Buffer.alloc(0),
    text: bytes?.toString('utf8') ?? '',
  };
  const request = { url: absolute(exchange), headers, body, bodyBytes, isChunked: false };
  return new JudgedExchange(
    row,
    { ...request, sentMs, endedMs },
    { answer, requestIdHeader, isWhole: bytes !== undefined },
  );
}
