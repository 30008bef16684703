/**
 * Loads the data of a view when it opens, and again when its query or the server's state changes.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, reasonOf } from './client.ts';
import { tick } from './live.ts';
import { tenant } from './session.ts';

/** The state of a view: loading, data, or an error. The earlier data is kept during a reload. */
export interface ViewState<Data> {
  readonly data: Data | undefined;
  readonly error: string;
  /** Status of an error response; 0 for any other error. */
  readonly status: number;
  readonly reload: () => void;
}

interface LastLoad<Data> {
  readonly key: string;
  readonly data?: Data;
  readonly error?: unknown;
}

/**
 * Loads data and keeps it up to date.
 * @param queryKey identifies the data; when it changes, the earlier data is discarded
 * @param isLive true if the data is reloaded while requests arrive at the server; `pauseTicks` is
 * the number of seconds between reloads
 */
export function useLoaded<Data>(
  load: () => Promise<Data>,
  queryKey: string,
  { isLive = false, pauseTicks = 1 }: { isLive?: boolean; pauseTicks?: number } = {},
): ViewState<Data> {
  const key = `${tenant.value} ${queryKey}`;
  const [lastLoad, setLastLoad] = useState<LastLoad<Data>>({ key });
  const [reloadCount, setReloadCount] = useState(0);
  const refreshCount = isLive ? Math.floor(tick.value / pauseTicks) : 0;
  const loader = useRef(load);
  loader.current = load;
  const inFlight = useRef({ key: '', requestedVersion: '' });
  const requestedVersion = `${key} ${reloadCount} ${refreshCount}`;
  useEffect(() => {
    const state = inFlight.current;
    state.requestedVersion = requestedVersion;
    if (state.key === key) return;
    const run = async (): Promise<void> => {
      state.key = key;
      const loadedVersion = state.requestedVersion;
      const outcome = await loader.current().then(
        (data): LastLoad<Data> => ({ key, data }),
        (error: unknown): LastLoad<Data> => ({ key, error }),
      );
      // The key changed meanwhile, so this result is dropped and a later load is still
      // running.
      if (state.key !== key) return;
      state.key = '';
      setLastLoad((previousLoad) =>
        previousLoad.key === key ? { ...previousLoad, error: undefined, ...outcome } : outcome,
      );
      if (state.requestedVersion !== loadedVersion) await run();
    };
    void run();
  }, [key, requestedVersion]);
  const current = lastLoad.key === key ? lastLoad : undefined;
  const error = current?.error;
  return {
    data: current?.data,
    error: error === undefined ? '' : reasonOf(error),
    status: error instanceof ApiError ? error.status : 0,
    reload: () => setReloadCount((count) => count + 1),
  };
}
