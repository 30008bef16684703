/** Which cases may be run together, which see refusals themselves, and how jobs share them. */
import { isControl } from '../context/capabilities.ts';
import type { CaseListing, RunnableCase } from '../suite/case.ts';

/** The cases of a run by how they are run. */
interface Lanes<Case> {
  /** Each with devices of its own, so that none disturbs another. */
  readonly together: readonly Case[];
  /** One after the other, when nothing else is run. */
  readonly alone: readonly Case[];
}

/**
 * Parts the cases. One has to be run alone when it touches what is not its own, or steers time,
 * faults or limits that it shares with others.
 * @param controlIsolates whether each tenant has time, faults and limits of its own
 */
export function lanesOf<Case extends Pick<CaseListing, 'risk' | 'needs'>>(
  cases: readonly Case[],
  controlIsolates: boolean,
): Lanes<Case> {
  const isAlone = ({ risk, needs }: Case): boolean =>
    risk === 'disruptive' || (needs.some(isControl) && !controlIsolates);
  return {
    together: cases.filter((each) => !isAlone(each)),
    alone: cases.filter(isAlone),
  };
}

/**
 * The cases in the order in which so many jobs take them: of several jobs none ends with a long case
 * while the others have nothing left to do.
 */
export function inTurn<Case extends Pick<RunnableCase, 'isLong'>>(
  cases: readonly Case[],
  jobs: number,
): readonly Case[] {
  if (jobs === 1) return cases;
  return cases.toSorted((one, other) => Number(other.isLong) - Number(one.isLong));
}

/** Whether a case judges that the target asks for patience; it must see such answers itself. */
export function judgesRateLimit({ covers, needs }: Pick<CaseListing, 'covers' | 'needs'>): boolean {
  return needs.includes('rate-control') || covers.some((each) => / (429|503)$/.test(each));
}

/** Calls `act` for each item in order, for at most `jobs` of them at a time. */
export async function eachOf<Item>(
  items: readonly Item[],
  jobs: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const work = async (): Promise<void> => {
    for (const item of waiting) await act(item);
  };
  await Promise.all(Array.from({ length: jobs }, work));
}
