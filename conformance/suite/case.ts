/** The form of a case and of a scenario: values that say what is judged, from which start state. */
import type { OperationId } from '../../fixtures/contract/operations.ts';
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type { RequirementLevel } from '../../fixtures/contract/requirements/requirement.ts';
import {
  behavioursNeededBy,
  type Capability,
  isControl,
  partsNeededBy,
} from '../context/capabilities.ts';
import type { TestContext } from '../context/test-context.ts';
import type { Observation } from '../target/expectations.ts';

export type { Capability } from '../context/capabilities.ts';

/** What a case does: only reads, makes resources of its own, or may touch or burden what others use. */
type Risk = 'read' | 'write' | 'disruptive';

/** A status of an operation that a case brings about, such as `put-deployment-status 409`. */
export type Coverage = `${OperationId} ${number}`;

/** What both kinds of case say of themselves. */
interface CaseFacts {
  /** Unique within the area; the whole id is area, slash, id. */
  readonly id: string;
  /** A full sentence that teaches the protocol. */
  readonly title: string;
  readonly requirements: readonly [RequirementId, ...RequirementId[]];
  readonly covers?: readonly Coverage[];
  /** Beside what the scenario needs, and the parts of the API of which requirements and covers speak. */
  readonly needs?: readonly Capability[];
}

/** A case that judges: it arranges, acts, and expects; what it expects in vain fails it. */
export interface JudgingCase<Arranged> extends CaseFacts {
  readonly run: (arranged: Arranged, context: TestContext) => Promise<void>;
}

/** A case on what the contract leaves open: it reports what it saw and never fails. */
export interface ObservingCase<Arranged> extends CaseFacts {
  readonly observe: (arranged: Arranged, context: TestContext) => Promise<Observation>;
}

/** A named, ordered group of cases that start from one state. */
export interface ScenarioDefinition<Arranged> {
  /** First part of the ids of its cases. */
  readonly area: string;
  readonly name: string;
  /** The state from which each of its cases starts, as a phrase: `an accepted device`. */
  readonly start: string;
  readonly risk: Risk;
  /** Whether its cases take seconds, so that no other should wait for their end. */
  readonly isLong?: boolean;
  readonly needs?: readonly Capability[];
  /** Brings about the start state; what it makes belongs to the context. */
  readonly arrange: (context: TestContext) => Promise<Arranged> | Arranged;
  readonly cases: readonly (JudgingCase<Arranged> | ObservingCase<Arranged>)[];
}

/** One case as it is listed. */
export interface CaseListing {
  readonly id: string;
  readonly title: string;
  readonly scenario: string;
  readonly start: string;
  readonly level: RequirementLevel;
  readonly requirements: readonly RequirementId[];
  readonly covers: readonly Coverage[];
  readonly needs: readonly Capability[];
  readonly risk: Risk;
}

/** A case that the runner can run, whatever its scenario arranges. */
export interface RunnableCase extends CaseListing {
  readonly isLong: boolean;
  /** Reaches the start state; the function that it gives acts and judges. */
  readonly arrange: (context: TestContext) => Promise<() => Promise<Observation | undefined>>;
}

/** A case without what only the runner needs. */
export function asListed({ arrange: _, isLong: __, ...listing }: RunnableCase): CaseListing {
  return listing;
}

/** The cases of a scenario, ready to run. Throws when one does not fit its requirements. */
export function defineScenario<Arranged>(
  scenario: ScenarioDefinition<Arranged>,
): readonly RunnableCase[] {
  return scenario.cases.map((each) => ({
    ...checkedListing(scenario, each),
    isLong: scenario.isLong ?? false,
    arrange: async (given) => {
      const needs = needsOf(scenario, each);
      const context = needs.some(isControl) ? await given.ofItsOwn(needs) : given;
      const arranged = await scenario.arrange(context);
      return async () => {
        if ('observe' in each) return each.observe(arranged, context);
        await each.run(arranged, context);
        return undefined;
      };
    },
  }));
}

/** Throws for a case that judges what the contract leaves open, or only observes what it says. */
function checkedListing<Arranged>(
  scenario: ScenarioDefinition<Arranged>,
  each: JudgingCase<Arranged> | ObservingCase<Arranged>,
): CaseListing {
  const listing = listingOf(scenario, each);
  if ('observe' in each === (listing.level === 'may')) return listing;
  throw new Error(`${listing.id} does not fit the level of its requirements, ${listing.level}`);
}

function listingOf(
  scenario: Pick<ScenarioDefinition<never>, 'area' | 'name' | 'start' | 'risk' | 'needs'>,
  facts: CaseFacts,
): CaseListing {
  return {
    id: `${scenario.area}/${facts.id}`,
    title: facts.title,
    scenario: scenario.name,
    start: scenario.start,
    level: levelOf(facts.requirements),
    requirements: facts.requirements,
    covers: facts.covers ?? [],
    needs: needsOf(scenario, facts),
    risk: scenario.risk,
  };
}

function needsOf(
  scenario: Pick<ScenarioDefinition<never>, 'needs'>,
  { needs = [], requirements: ids, covers = [] }: CaseFacts,
): readonly Capability[] {
  const implied = [...partsNeededBy(ids, covers), ...behavioursNeededBy(ids)];
  return [...new Set([...(scenario.needs ?? []), ...needs, ...implied])];
}

/** A case is as binding as the most binding of its requirements. */
function levelOf(ids: readonly RequirementId[]): RequirementLevel {
  const levels = ids.map((id) => requirements[id].level);
  return (['must', 'should', 'may'] as const).find((level) => levels.includes(level)) ?? 'may';
}
