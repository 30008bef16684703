/**
 * Finds out, while a run without a defect passes by, which defects would have changed something of
 * it. Each is asked by its own hooks, with a memory of its own; nothing of what it says is done.
 */
import { isDeepStrictEqual } from 'node:util';
import { touches } from './active-defect.ts';
import type { Ask, Defect, Mutation } from './defect.ts';
import type { Attendant, Exchanged } from './proxy.ts';

/** A hook that wants to ask the target has more in mind than looking on. */
class WantsToAct extends Error {}

/** Takes no request; all that a hook gets to know is who the user is. */
function refusing(userToken: string): Ask {
  return Object.assign(() => Promise.reject(new WantsToAct('only looking on')), { userToken });
}

interface Asked {
  readonly defect: Defect;
  readonly mutation: Mutation;
}

/** Looks on at one run, case by case. */
export class Probe implements Attendant {
  readonly #asked: readonly Asked[];
  #current = new Set<string>();
  #line: Promise<void> = Promise.resolve();

  constructor(defects: readonly Defect[]) {
    this.#asked = defects.map((defect) => ({ defect, mutation: defect.mutation() }));
  }

  /** Ends a case and begins the next; the ids of what would have changed the one that ended. */
  begin(): ReadonlySet<string> {
    const ended = this.#current;
    this.#current = new Set();
    return ended;
  }

  /** Resolves when everything that passed has been looked at. */
  settled(): Promise<void> {
    return this.#line;
  }

  attend(exchange: Promise<Exchanged>): void {
    // What is found out later still belongs to the case that was played when the request came.
    const found = this.#current;
    const whole = exchange.then(
      (each) => each,
      // A target that gives no answer leaves nothing to change.
      () => undefined,
    );
    this.#line = this.#line.then(async () => {
      const each = await whole;
      if (each) await this.#look(each, found);
    });
  }

  async #look(exchanged: Exchanged, found: Set<string>): Promise<void> {
    for (const { defect, mutation } of this.#asked) {
      if (!touches(defect, exchanged.request.operation)) continue;
      if (await changesAnything(mutation, exchanged)) found.add(defect.id);
    }
  }
}

async function changesAnything(mutation: Mutation, exchanged: Exchanged): Promise<boolean> {
  const { request, answer, userToken } = exchanged;
  const refused = refusing(userToken);
  // What these hooks do is seen only while bytes pass.
  if (mutation.chunk ?? mutation.frame ?? mutation.ended) return true;
  try {
    const sent = (await mutation.request?.(request, refused)) ?? request;
    if (differs(sent, request)) return true;
    return differs((await mutation.answer?.(answer, request, refused)) ?? answer, answer);
  } catch (error) {
    if (error instanceof WantsToAct) return true;
    throw error;
  }
}

function differs(made: unknown, given: unknown): boolean {
  return made !== given && !isDeepStrictEqual(made, given);
}
