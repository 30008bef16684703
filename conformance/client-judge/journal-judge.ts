/**
 * Judges device clients by the entries of a journal, as the control API returns them. A journal
 * masks secrets and keeps bodies as values, so duties about bytes are not decided.
 */
import type { ClientExchange } from '../../fixtures/control/client-event.ts';
import { encodeConnectMessage } from '../../fixtures/formats/connect-message.ts';
import { exchangeIn } from '../recordings/journal.ts';
import { entriesOf, membersOf } from '../target/json-members.ts';
import { ClientJudge } from './client-judge.ts';
import type { DutyFinding } from './duty.ts';
import { digestOf } from './exchange-facts.ts';
import { clientExchangeOf } from './recorded-clients.ts';

/** Judges the entries of a journal of any length. */
export class JournalJudge {
  #findings: DutyFinding[] = [];
  readonly #judge = new ClientJudge((duty, { journalEntry, operation, message }) => {
    const { id, level, sentence, source, remedy } = duty;
    this.#findings.push({
      duty: id,
      level,
      sentence,
      source,
      journalEntry,
      operation,
      message,
      remedy,
    });
  });

  /** Number of exchanges of devices that were judged. */
  get exchanges(): number {
    return this.#judge.exchanges;
  }

  /**
   * Judges one entry of a journal, as the control API returns it with headers and bodies. Call it
   * in the order of the entries.
   * @throws RecordingError if the entry is not one of a journal
   */
  judge(entry: unknown): readonly DutyFinding[] {
    this.#findings = [];
    const { sequence, device } = membersOf(entry);
    const { id, identity } = membersOf(device);
    const digest = typeof identity === 'string' ? digestOf(identity) : '';
    const client = typeof id === 'string' ? id : digest;
    this.#message(entry, client);
    const exchange = exchangeIn('the journal', `entry ${sequence}`, entry);
    if (exchange === undefined) return this.#findings;
    const event = clientExchangeOf(exchange, Number(sequence), client);
    this.#judge.judge({ ...event, ...doneBy(entry) });
    return this.#findings;
  }

  /** Judges a message on the WebSocket of a device. */
  #message(entry: unknown, client: string): void {
    const { kind, from, at, sequence, socket, opcode, proto, typ, sid } = membersOf(entry);
    const isMessage = kind === 'frame' && socket === 'device' && opcode === 'message';
    if (!isMessage || typeof proto !== 'number') return;
    const payload = encodeConnectMessage({
      proto,
      ...(typeof typ === 'string' && { typ }),
      ...(typeof sid === 'string' && { sid }),
    });
    this.#judge.judge({
      kind: 'socket',
      event: 'message',
      journalEntry: Number(sequence),
      client,
      payload,
      socket: client,
      from: from === 'server' ? 'server' : 'device',
      atMs: Date.parse(String(at)),
    });
  }
}

/** Returns what the server did to an exchange: whether it was cut, its fault and its variations. */
function doneBy(entry: unknown): Pick<ClientExchange, 'isDelivered' | 'faultsAndVariations'> {
  const { cut, fault, varied, status } = membersOf(entry);
  const { act } = membersOf(fault);
  const names = [...(act === undefined ? [] : [act]), ...entriesOf(varied)];
  return { isDelivered: cut !== true && status !== 0, faultsAndVariations: names.map(String) };
}
