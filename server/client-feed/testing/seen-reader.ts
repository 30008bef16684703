/** A reader that keeps the events that it is shown, for tests of the feed. */
import type { ClientEvent } from '../../../fixtures/control/client-event.ts';
import type { ClientReader } from '../client-reader.ts';

export interface SeenReader extends ClientReader {
  readonly events: ClientEvent[];
  /** Names of the clients whose last poll was repeated, once for each repeat. */
  readonly repeated: string[];
}

/**
 * Returns a reader with one duty, which each client meets.
 * @param observe called for each event before it is kept
 */
export function seenReader(observe: (event: ClientEvent) => void = () => undefined): SeenReader {
  const events: ClientEvent[] = [];
  const repeated: string[] = [];
  const clients = new Map<string, number>();
  const duty = {
    ...({ duty: 'sample.duty', level: 'must', sentence: 'A sample.' } as const),
    source: 'Sample',
    remedy: 'There is none.',
  };
  return {
    events,
    repeated,
    duties: [duty],
    observe: (event) => {
      observe(event);
      events.push(event);
      if (event.kind === 'exchange')
        clients.set(event.client, (clients.get(event.client) ?? 0) + 1);
    },
    recordRepeat: (client) => {
      repeated.push(client);
      return true;
    },
    rename: (former, client) => {
      clients.set(client, clients.get(former) ?? 0);
      clients.delete(former);
    },
    forget: (client) => {
      if (client === undefined) clients.clear();
      else clients.delete(client);
    },
    *clients() {
      for (const [client, exchanges] of clients)
        yield { client, exchanges, dropped: 0, states: ['met'] };
    },
    client: (client) => {
      const exchanges = clients.get(client);
      if (exchanges === undefined) return undefined;
      const metDuty = { ...duty, state: 'met', judged: 1, violationCount: 0 } as const;
      return { exchanges, dropped: 0, duties: [{ ...metDuty, violations: [] }] };
    },
  };
}
