/**
 * Reads server-sent events with fetch, because EventSource cannot send a token. Reconnects
 * automatically.
 */
import { after } from './browser-clock.ts';
import { ApiError, send } from './client.ts';

const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 10_000;

/** Callbacks for the events of a stream and for changes of its state. */
export interface StreamReader {
  readonly onEvent: (kind: string, data: unknown, id: string) => void;
  readonly onState?: (state: 'connecting' | 'live' | 'lost') => void;
}

/**
 * Follows a stream until the returned function is called. `target` is called for every connection,
 * so that it can resume after the last event.
 */
export function followStream(target: () => string, reader: StreamReader): () => void {
  const stop = new AbortController();
  let cancelRetry = (): void => undefined;
  let failures = 0;
  const connect = async (): Promise<void> => {
    try {
      const response = await send(target(), { signal: stop.signal });
      failures = 0;
      reader.onState?.('live');
      await readEvents(response, reader);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return;
    }
    if (stop.signal.aborted) return;
    reader.onState?.('lost');
    const delayMs = Math.min(RETRY_FIRST_MS * 2 ** failures, RETRY_MAX_MS);
    failures += 1;
    cancelRetry = after(delayMs, connect);
  };
  reader.onState?.('connecting');
  void connect();
  return () => {
    stop.abort();
    cancelRetry();
  };
}

async function readEvents(response: Response, { onEvent }: StreamReader): Promise<void> {
  if (!response.body) return;
  let incompleteMessage = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const messages = (incompleteMessage + chunk).split('\n\n');
    incompleteMessage = messages.pop() ?? '';
    for (const message of messages) {
      const data = /^data: (.*)$/m.exec(message)?.[1];
      if (data === undefined) continue;
      const kind = /^event: (.*)$/m.exec(message)?.[1] ?? 'message';
      const id = /^id: (.*)$/m.exec(message)?.[1] ?? '';
      onEvent(kind, JSON.parse(data), id);
    }
  }
}
