/** Schedules cases: which may run in parallel, in which order, and how jobs share them. */
import { isControl } from '../context/capabilities.ts';
import type { CaseListing, RunnableCase } from '../suite/case.ts';

/** The cases of a run, split by whether they may run in parallel. */
interface CaseOrder<Case> {
  /** Cases that may run in parallel, since each uses only its own devices. */
  readonly together: readonly Case[];
  /** Cases that run one at a time, after all others; those whose order is last are at the end. */
  readonly alone: readonly Case[];
}

/**
 * Splits the cases. A case runs alone if it is disruptive, if its order is last, or if it controls
 * time, faults or limits that it shares with other cases.
 * @param controlIsolates true if each tenant has its own time, faults and limits
 */
export function splitByOrder<Case extends Pick<RunnableCase, 'effect' | 'needs' | 'order'>>(
  cases: readonly Case[],
  controlIsolates: boolean,
): CaseOrder<Case> {
  const isLast = ({ order }: Case): boolean => order === 'last';
  const isAlone = (each: Case): boolean =>
    each.effect === 'disruptive' ||
    isLast(each) ||
    (each.needs.some(isControl) && !controlIsolates);
  const alone = cases.filter(isAlone);
  return {
    together: cases.filter((each) => !isAlone(each)),
    alone: alone.toSorted((one, other) => Number(isLast(one)) - Number(isLast(other))),
  };
}

/**
 * Returns the cases in the order in which `jobs` parallel jobs should start them. Long cases come
 * first, so that no job still runs a long case when the others are finished.
 */
export function inStartOrder<Case extends Pick<RunnableCase, 'order'>>(
  cases: readonly Case[],
  jobs: number,
): readonly Case[] {
  if (jobs === 1) return cases;
  const isFirst = ({ order }: Case): number => Number(order === 'first');
  return cases.toSorted((one, other) => isFirst(other) - isFirst(one));
}

/**
 * Returns true for a case that tests responses of 429 or 503, which the suite must then not retry.
 */
export function judgesRateLimit({ covers, needs }: Pick<CaseListing, 'covers' | 'needs'>): boolean {
  return needs.includes('rate-control') || covers.some((each) => / (429|503)$/.test(each));
}

/** Calls `run` for each item in order, for at most `jobs` of them at a time. */
export async function runEach<Item>(
  items: readonly Item[],
  jobs: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const work = async (): Promise<void> => {
    for (const item of queue) await run(item);
  };
  await Promise.all(Array.from({ length: jobs }, work));
}
