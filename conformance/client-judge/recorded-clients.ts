/** Shows the exchanges of a recording to a client judge. */
import { createHash } from 'node:crypto';
import { parsedJson } from '../../fixtures/base/json.ts';
import type { ClientExchange } from '../../fixtures/control/client-event.ts';
import { absolute } from '../passive/recording.ts';
import type { FullExchange } from '../recordings/recording.ts';
import { membersOf } from '../target/json-members.ts';
import { ClientJudge } from './client-judge.ts';
import type { ClientVerdict } from './client-verdict.ts';
import { identityIn } from './exchange-facts.ts';
import { MASK } from './secret-text.ts';

/**
 * Judges the devices in a recording, in the order of the exchanges.
 * @param onJudged called with each exchange, and whether it broke a duty
 */
export async function verdictsOfRecording(
  exchanges: Iterable<FullExchange> | AsyncIterable<FullExchange>,
  onJudged: (exchange: ClientExchange, isBroken: boolean) => void = () => undefined,
): Promise<readonly ClientVerdict[]> {
  let isBroken = false;
  const judge = new ClientJudge(() => {
    isBroken = true;
  });
  const senders = new RecordedSenders();
  let journalEntry = 0;
  for await (const exchange of exchanges) {
    journalEntry += 1;
    isBroken = false;
    const event = senders.exchangeOf(exchange, journalEntry);
    judge.judge(event);
    onJudged(event, isBroken);
  }
  return judge.verdicts();
}

/**
 * Names the senders of recorded exchanges: by the ID of the device that a journal notes, by the
 * subject of the token, else by the key of the authentication request. A link carries no identity:
 * who fetches it is the last device that was offered one to the same path.
 */
class RecordedSenders {
  readonly #ofPath = new Map<string, string>();

  exchangeOf(exchange: FullExchange, journalEntry: number): ClientExchange {
    const sender = exchange.device ?? senderOf(exchange);
    const client = sender ?? this.#ofPath.get(exchange.pathname) ?? '';
    const event = clientExchangeOf(exchange, journalEntry, client);
    const { source } = membersOf(membersOf(parsedJson(String(event.responseBody))).artifact);
    const { uri } = membersOf(source);
    if (typeof uri === 'string' && URL.canParse(uri)) {
      this.#ofPath.set(new URL(uri).pathname, client);
      const [oldest] = this.#ofPath.keys();
      if (this.#ofPath.size > PATHS_MAX && oldest !== undefined) this.#ofPath.delete(oldest);
    }
    return event;
  }
}

const PATHS_MAX = 10_000;
/** A server of this project names a planned fault in a header; its prefix may be another one. */
const FAULT_HEADER_END = '-testbed-fault';

function senderOf(exchange: FullExchange): string | undefined {
  const { authorization = '', cookie = '' } = exchange.requestHeaders();
  const token = /^Bearer (.+)$/i.exec(authorization)?.[1] ?? /\bJWT=([^;]+)/.exec(cookie)?.[1];
  const claims = token?.split('.')[1];
  const subject = claims && parsedJson(Buffer.from(claims, 'base64url').toString('utf8'));
  const { sub } = membersOf(subject);
  if (typeof sub === 'string') return sub;
  const claimsPart = String(exchange.responseBody() ?? '').split('.')[1];
  const granted = claimsPart && parsedJson(Buffer.from(claimsPart, 'base64url').toString('utf8'));
  const { sub: grantedDevice } = membersOf(granted);
  if (typeof grantedDevice === 'string') return grantedDevice;
  const body = exchange.requestBody();
  const { key } = identityIn(typeof body === 'string' ? parsedJson(body) : body) ?? {};
  return key && createHash('sha256').update(key).digest('base64url').slice(0, 22);
}

/**
 * Returns a recorded exchange as the judge sees it. A recording does not show whether a response
 * arrived, and its clock may have been frozen or set back.
 */
export function clientExchangeOf(
  exchange: FullExchange,
  journalEntry: number,
  client: string,
): ClientExchange {
  const { method, status, sentMs, endedMs, alteration } = exchange;
  const requestHeaders = Object.entries(exchange.requestHeaders());
  const value = exchange.requestBody();
  const text = value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
  const responseBody = exchange.responseBytes();
  const responseHeaders = exchange.responseHeaders();
  const faults = Object.entries(responseHeaders).filter(([name]) =>
    name.endsWith(FAULT_HEADER_END),
  );
  return {
    kind: 'exchange',
    journalEntry,
    client,
    method,
    url: absolute(exchange),
    requestHeaders,
    requestBody: text === undefined ? undefined : Buffer.from(text),
    status,
    responseHeaders: Object.entries(responseHeaders),
    responseBody,
    responseBytes: responseBody?.length ?? Number(responseHeaders['content-length'] ?? 0),
    isDelivered: status > 0,
    sentMs,
    endedMs,
    serverNowMs: endedMs,
    faultsAndVariations: faults.map(([, fault]) => fault),
    alteration,
    connection: client,
    // The value of a parsed or masked body is known, and its bytes are not.
    isVerbatim: typeof value === 'string' && !value.includes(MASK),
  };
}
