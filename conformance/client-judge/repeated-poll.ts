/** Recognizes polls that repeat the last one, and so show nothing new. */
import type { ClientExchange, HeaderList } from '../../fixtures/control/client-event.ts';
import type { ClientHistory } from './client-history.ts';

/** A device with its last exchange, if a repeat of it shows nothing new. */
interface LastPoll {
  readonly history: ClientHistory;
  readonly lastIdlePoll: ClientExchange | undefined;
}

/**
 * Returns true if a poll repeats the last one with the same response, and breaks no duty by that.
 */
export function isRepeat(client: LastPoll, event: ClientExchange): boolean {
  const { lastIdlePoll } = client;
  return (
    lastIdlePoll !== undefined &&
    event.status === 204 &&
    event.method === lastIdlePoll.method &&
    event.url === lastIdlePoll.url &&
    !client.history.breaksPollLimit(event) &&
    event.isDelivered &&
    event.faultsAndVariations.length === 0 &&
    isEqual(event.requestBody, lastIdlePoll.requestBody) &&
    isEqualList(event.requestHeaders, lastIdlePoll.requestHeaders)
  );
}

function isEqual(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && one.equals(other));
}

function isEqualList(one: HeaderList, other: HeaderList): boolean {
  return (
    one === other ||
    (one.length === other.length &&
      one.every(([name, value], at) => name === other[at]?.[0] && value === other[at]?.[1]))
  );
}
