/**
 * The coverage of the contract's requirements: for each one, the cases that test it, the reason why
 * none can, or the open point that it observes. `report/coverage.ts` renders the coverage.
 */
import type { OpenPoint } from '../../fixtures/contract/open-point.ts';
import { openPoints } from '../../fixtures/contract/open-points.ts';
import { operations as operationRows } from '../../fixtures/contract/operations.ts';
import { requirements } from '../../fixtures/contract/requirements/index.ts';
import {
  headings,
  type Requirement,
  type RequirementLevel,
} from '../../fixtures/contract/requirements/requirement.ts';
import { generalRequirements } from '../passive/catalogue.ts';
import type { CaseListing } from '../suite/case.ts';

/**
 * The coverage of one requirement. `tested`: a case can fail by it. `observed`: the contract leaves
 * it open, so cases only observe it. `excluded`: untestable, with a reason. `client`: a duty of
 * clients. `unaccounted`: a gap or a contradiction in the suite.
 */
export const coverageStates = ['tested', 'observed', 'excluded', 'client', 'unaccounted'] as const;
type CoverageState = (typeof coverageStates)[number];

/** The members of a case that the coverage contains. */
type CoveringCase = Pick<CaseListing, 'id' | 'title' | 'needs' | 'effect'>;

/** The coverage of one requirement. */
export interface CoverageRow {
  readonly id: string;
  readonly heading: string;
  readonly level: RequirementLevel;
  readonly sentence: string;
  readonly operations: readonly string[];
  readonly plan: 'every' | 'enterprise';
  readonly state: CoverageState;
  readonly cases: readonly CoveringCase[];
  /** The operations whose every exchange is judged by it; absent if only cases judge it. */
  readonly everywhere?: readonly string[];
  /** The reason why no case tests it, or why it is unaccounted. */
  readonly reason?: string;
  /** The observed open point: its question, and the choice of the reference server. */
  readonly openPoint?: Pick<OpenPoint, 'id' | 'question' | 'choice'>;
}

/** Number of requirements by state. */
export type CoverageCounts = Readonly<Record<CoverageState, number>>;

/** The coverage of every requirement of the contract, with counts. */
export interface Coverage {
  readonly rows: readonly CoverageRow[];
  readonly totals: CoverageCounts;
  /** Counts for each heading of the contract that has requirements, in order. */
  readonly byHeading: Readonly<Record<string, CoverageCounts>>;
  readonly byLevel: Readonly<Record<string, CoverageCounts>>;
  readonly byPlan: Readonly<Record<string, CoverageCounts>>;
  /** IDs of the requirements whose state is `unaccounted`; a complete suite has none. */
  readonly unaccounted: readonly string[];
}

/** Returns the coverage of requirements, by default those of the contract, by these cases. */
export function coverageOf(
  cases: readonly CaseListing[],
  records: readonly Requirement[] = Object.values(requirements),
): Coverage {
  const inOrder = headings.flatMap((heading) => records.filter((each) => each.heading === heading));
  const rows = inOrder.map((record) => rowOf(record, cases));
  return {
    rows,
    totals: countsOf(rows),
    byHeading: countsBy(rows, ({ heading }) => heading),
    byLevel: countsBy(rows, ({ level }) => level),
    byPlan: countsBy(rows, ({ plan }) => plan),
    unaccounted: rows.filter(({ state }) => state === 'unaccounted').map(({ id }) => id),
  };
}

function rowOf(record: Requirement, cases: readonly CaseListing[]): CoverageRow {
  const { id, heading, level, sentence, operations, plan = 'every' } = record;
  const covering = cases.filter((each) => each.requirements.some((named) => named === id));
  const openPoint = openPoints.find((each) => each.id === record.openPoint);
  return {
    id,
    heading,
    level,
    sentence,
    operations,
    plan,
    ...stateOf(record, covering),
    ...(isEverywhere(id) && { everywhere: Object.keys(operationRows) }),
    cases: covering.map(({ id, title, needs, effect }) => ({ id, title, needs, effect })),
    ...(openPoint && {
      openPoint: { id: openPoint.id, question: openPoint.question, choice: openPoint.choice },
    }),
  };
}

function stateOf(
  { id, level, actor, excluded, openPoint }: Requirement,
  covering: readonly CaseListing[],
): Pick<CoverageRow, 'state' | 'reason'> {
  if (excluded !== undefined) {
    if (covering.length > 0) return unaccountedState('it is excluded, but cases test it');
    return { state: actor === 'client' ? 'client' : 'excluded', reason: excluded };
  }
  if (actor === 'client')
    return unaccountedState('it applies to clients, but has no reason for its exclusion');
  if (covering.length === 0 && !isEverywhere(id))
    return unaccountedState('no case tests it, and it has no reason for its exclusion');
  if (openPoint !== undefined && !openPoints.some(({ id }) => id === openPoint)) {
    return unaccountedState(`there is no open point ${openPoint}`);
  }
  return { state: level === 'may' ? 'observed' : 'tested' };
}

function isEverywhere(id: string): boolean {
  return generalRequirements.some((each) => each === id);
}

function unaccountedState(reason: string): Pick<CoverageRow, 'state' | 'reason'> {
  return { state: 'unaccounted', reason };
}

function countsBy(
  rows: readonly CoverageRow[],
  keyOf: (row: CoverageRow) => string,
): Record<string, CoverageCounts> {
  const keys = [...new Set(rows.map(keyOf))];
  return Object.fromEntries(
    keys.map((key) => [key, countsOf(rows.filter((row) => keyOf(row) === key))]),
  );
}

function countsOf(rows: readonly CoverageRow[]): CoverageCounts {
  const count = (name: CoverageState): number => rows.filter(({ state }) => state === name).length;
  return {
    tested: count('tested'),
    observed: count('observed'),
    excluded: count('excluded'),
    client: count('client'),
    unaccounted: count('unaccounted'),
  };
}
