/**
 * Finds out, during a run without a defect, which defects would have changed its exchanges. The
 * alterations of each defect are called with their own state, and their results are discarded.
 */
import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../fixtures/base/clock.ts';
import { affectsOperation } from './active-defect.ts';
import type { Alteration, Defect, SendToTarget } from './defect.ts';
import type { ProxiedExchange, ProxyObserver } from './proxy.ts';

/** How long after the run an exchange that has not ended may still end. */
const LATE_MAX_MS = 5000;

/** Thrown when an alteration sends a request to the target, which counts as a change. */
class RequestNeeded extends Error {}

/**
 * Returns an `SendToTarget` that rejects every request, so that alterations can only read the user
 * token.
 */
function refusing(userToken: string): SendToTarget {
  return Object.assign(() => Promise.reject(new RequestNeeded('only observing')), { userToken });
}

interface ProbedDefect {
  readonly defect: Defect;
  readonly alteration: Alteration;
}

/** Observes one run, case by case. */
export class DefectProbe implements ProxyObserver {
  readonly #probed: readonly ProbedDefect[];
  #current = new Set<string>();
  #line: Promise<void> = Promise.resolve();
  readonly #clock: Clock;
  readonly #over = new AbortController();
  readonly #isOver = once(this.#over.signal, 'abort').then(() => undefined);

  constructor(defects: readonly Defect[], clock: Clock) {
    this.#clock = clock;
    this.#probed = defects.map((defect) => ({ defect, alteration: defect.alter() }));
  }

  /** Ends a case and begins the next; returns the IDs of the defects that would have changed it. */
  begin(): ReadonlySet<string> {
    const endedSet = this.#current;
    this.#current = new Set();
    return endedSet;
  }

  /**
   * Resolves when every exchange so far has been examined. Call it after the run: an exchange whose
   * connections are closed may never end, and is ignored then.
   */
  async waitUntilExamined(): Promise<void> {
    const limit = this.#clock.after(LATE_MAX_MS, () => this.#over.abort());
    await this.#line;
    limit.cancel();
  }

  examine(exchange: Promise<ProxiedExchange>): void {
    // A late result still belongs to the case that was running when the request arrived.
    const foundDefects = this.#current;
    const fullExchange = exchange.then(
      (each) => each,
      // An exchange without a response is ignored, since no alteration could change it.
      () => undefined,
    );
    this.#line = this.#line.then(async () => {
      const each = await Promise.race([fullExchange, this.#isOver]);
      if (each) await this.#look(each, foundDefects);
    });
  }

  async #look(exchanged: ProxiedExchange, foundDefects: Set<string>): Promise<void> {
    for (const { defect, alteration } of this.#probed) {
      if (!affectsOperation(defect, exchanged.request.operation)) continue;
      if (await changesAnything(alteration, exchanged)) foundDefects.add(defect.id);
    }
  }
}

async function changesAnything(
  alteration: Alteration,
  exchanged: ProxiedExchange,
): Promise<boolean> {
  const { request, response, userToken } = exchanged;
  const refusedSend = refusing(userToken);
  // These alterations take effect only while bytes are forwarded, or while exchanges overlap.
  if (alteration.chunk ?? alteration.frame ?? alteration.ended ?? alteration.needsOverlap)
    return true;
  try {
    const sentRequest = (await alteration.request?.(request, refusedSend)) ?? request;
    if (differs(sentRequest, request)) return true;
    return differs(
      (await alteration.response?.(response, request, refusedSend)) ?? response,
      response,
    );
  } catch (error) {
    if (error instanceof RequestNeeded) return true;
    throw error;
  }
}

function differs(made: unknown, given: unknown): boolean {
  return made !== given && !isDeepStrictEqual(made, given);
}
