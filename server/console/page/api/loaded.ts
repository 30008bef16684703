/** Data of a view: loaded when it opens, and again when its query or the server's state changes. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, reasonOf } from './client.ts';
import { tick } from './live.ts';
import { tenant } from './session.ts';

/** The state of a view: loading, data, or an error. Earlier data stays while it reloads. */
export interface Loaded<Data> {
  readonly data: Data | undefined;
  readonly error: string;
  /** Status of the answer that was no success; 0 for any other fault. */
  readonly status: number;
  readonly reload: () => void;
}

interface Kept<Data> {
  readonly asked: string;
  readonly data?: Data;
  readonly error?: unknown;
}

/**
 * @param question what the data depends on; another one starts from nothing
 * @param isLive whether it is loaded again while requests arrive, and after how many seconds of them
 */
export function useLoaded<Data>(
  load: () => Promise<Data>,
  question: string,
  { isLive = false, pauseTicks = 1 }: { isLive?: boolean; pauseTicks?: number } = {},
): Loaded<Data> {
  const asked = `${tenant.value} ${question}`;
  const [kept, setKept] = useState<Kept<Data>>({ asked });
  const [round, setRound] = useState(0);
  const turn = isLive ? Math.floor(tick.value / pauseTicks) : 0;
  const loader = useRef(load);
  loader.current = load;
  const underway = useRef({ asked: '', wanted: '' });
  const wanted = `${asked} ${round} ${turn}`;
  useEffect(() => {
    const state = underway.current;
    state.wanted = wanted;
    if (state.asked === asked) return;
    const run = async (): Promise<void> => {
      state.asked = asked;
      const begun = state.wanted;
      const outcome = await loader.current().then(
        (data): Kept<Data> => ({ asked, data }),
        (error: unknown): Kept<Data> => ({ asked, error: error }),
      );
      // An answer to an earlier question is of no use, nor is it the end of the later one.
      if (state.asked !== asked) return;
      state.asked = '';
      setKept((before) =>
        before.asked === asked ? { ...before, error: undefined, ...outcome } : outcome,
      );
      if (state.wanted !== begun) await run();
    };
    void run();
  }, [asked, wanted]);
  const current = kept.asked === asked ? kept : undefined;
  const error = current?.error;
  return {
    data: current?.data,
    error: error === undefined ? '' : reasonOf(error),
    status: error instanceof ApiError ? error.status : 0,
    reload: () => setRound((before) => before + 1),
  };
}
