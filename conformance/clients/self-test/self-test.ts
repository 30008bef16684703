/**
 * The judge of clients, judged: a good client that it must not blame, badly written ones of which it
 * must name exactly the duty that each breaks, and random alterations of the good one.
 */
import { type Random, seededRandom } from '../../../fixtures/random.ts';
import { ClientJudge } from '../client-judge.ts';
import { duties } from '../duties/duties.ts';
import type { Alteration } from './alter.ts';
import { alterations } from './alterations.ts';
import { goodSteps } from './good-life.ts';
import { randomChanges } from './random-changes.ts';
import { eventsOf, type Request, type Step } from './steps.ts';

/** A badly written client. */
interface BadClientRow {
  /** The duty that it breaks, and what it does. */
  readonly id: string;
  readonly does: string;
  readonly isCaught: boolean;
  /** Duties that the judge names although the client keeps them. */
  readonly falseCatches: readonly string[];
}

/** The result of the self-test. */
export interface ClientSelfTest {
  /** Duties that the judge names in the life of the good client. */
  readonly falseOnGood: readonly string[];
  readonly rows: readonly BadClientRow[];
  /** Duties that can be broken, and that no badly written client breaks. */
  readonly undefended: readonly string[];
}

/** Random alterations of the good client, and how many of them the judge noticed. */
export interface AlteredClients {
  readonly altered: number;
  readonly noticed: number;
  /** Number of alterations that it did not notice, by what they do. */
  readonly unnoticed: Readonly<Record<string, number>>;
}

/** Plays the good client and the badly written ones of these duties. */
export function selfTestOfClients(selected: readonly Alteration[] = alterations): ClientSelfTest {
  const defended = new Set(alterations.map(({ duty }) => duty));
  return {
    falseOnGood: brokenBy(goodSteps()),
    rows: selected.map(({ duty, does, alter, consequences = [] }) => {
      const broken = brokenBy(alter(goodSteps()));
      const expected = [duty, ...consequences];
      return {
        ...{ id: duty, does, isCaught: broken.includes(duty) },
        falseCatches: broken.filter((each) => !expected.includes(each)),
      };
    }),
    undefended: duties
      .filter(({ id, level }) => level !== 'observed' && !defended.has(id))
      .map(({ id }) => id),
  };
}

/** Alters one request of the good client at random, as often as given. */
export function alteredClients(count: number, seed: string): AlteredClients {
  const unnoticed = new Map<string, number>();
  let altered = 0;
  for (let draw = 0; altered < count; draw += 1) {
    const random = seededRandom(`${seed}/${draw}`);
    const steps = goodSteps();
    const name = picked(Object.keys(randomChanges), random);
    const step = picked(steps.filter(isRequest), random);
    if (randomChanges[name]?.(step, steps) !== true) continue;
    altered += 1;
    if (brokenBy(steps).length === 0) unnoticed.set(name, (unnoticed.get(name) ?? 0) + 1);
  }
  const missed = [...unnoticed.values()].reduce((sum, each) => sum + each, 0);
  return { altered, noticed: altered - missed, unnoticed: Object.fromEntries(unnoticed) };
}

/** Returns the duties that a client breaks. */
function brokenBy(steps: readonly Step[]): readonly string[] {
  const judge = new ClientJudge();
  for (const event of eventsOf(steps)) judge.see(event);
  const all = judge.verdict('device-1')?.duties ?? [];
  return all.filter(({ state }) => state === 'broken').map(({ duty }) => duty);
}

function isRequest(step: Step): step is Request {
  return step.kind === 'request';
}

function picked<Item>(items: readonly Item[], random: Random): Item {
  const [first, ...rest] = items.slice(random.integer(0, items.length - 1));
  if (first === undefined) throw new Error(`nothing to pick from ${rest.length} items`);
  return first;
}
