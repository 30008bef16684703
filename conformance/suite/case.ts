/** The types of cases and scenarios, and `defineScenario`, which makes them ready to run. */
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
import type { CaseObservation } from '../target/expectations.ts';

export type { Capability } from '../context/capabilities.ts';

/**
 * Effect of a case on the target. `read`: changes nothing. `write`: creates resources of its own.
 * `disruptive`: may change or slow down what other users of the target use.
 */
type CaseEffect = 'read' | 'write' | 'disruptive';

/** An operation and a status that a case makes it return, such as `put-deployment-status 409`. */
export type CoveredStatus = `${OperationId} ${number}`;

/** The properties that judging and observing cases have in common. */
interface CaseProperties {
  /** Unique within the area. The full ID of the case is `AREA/ID`. */
  readonly id: string;
  /** A full sentence that states the requirement which the case checks. */
  readonly title: string;
  readonly requirements: readonly [RequirementId, ...RequirementId[]];
  readonly covers?: readonly CoveredStatus[];
  /**
   * Further capabilities that the case needs. Those of the scenario, and those that follow from
   * `requirements` and `covers`, are added automatically.
   */
  readonly needs?: readonly Capability[];
}

/** A case with a verdict: it fails when `run` throws an ExpectationFailure. */
export interface JudgingCase<Arranged> extends CaseProperties {
  readonly run: (arranged: Arranged, context: TestContext) => Promise<void>;
}

/** A case about a point that the contract leaves open: it reports the target's behaviour. */
export interface ObservingCase<Arranged> extends CaseProperties {
  readonly observe: (arranged: Arranged, context: TestContext) => Promise<CaseObservation>;
}

/** When the runner starts a case: `first` or `last`, before or after the other cases. */
type StartOrder = 'first' | 'last';

/** A named, ordered group of cases that start from the same state. */
export interface ScenarioDefinition<Arranged> {
  /** The first part of the ID of each case in the scenario. */
  readonly area: string;
  readonly name: string;
  /** The state from which each case of the scenario starts, as a phrase: `an accepted device`. */
  readonly start: string;
  readonly effect: CaseEffect;
  /**
   * When the runner starts the cases, if that matters. `first`: they are slow, and start early so
   * that they overlap with the rest. `last`: they may add entries to lists that other cases read,
   * so each runs alone, after all others.
   */
  readonly order?: StartOrder;
  readonly needs?: readonly Capability[];
  /** Arranges the start state. The context owns the created resources, and removes them. */
  readonly arrange: (context: TestContext) => Promise<Arranged> | Arranged;
  readonly cases: readonly (JudgingCase<Arranged> | ObservingCase<Arranged>)[];
}

/** One case as lists and reports show it. */
export interface CaseListing {
  readonly id: string;
  readonly title: string;
  readonly scenario: string;
  readonly start: string;
  readonly level: RequirementLevel;
  readonly requirements: readonly RequirementId[];
  readonly covers: readonly CoveredStatus[];
  readonly needs: readonly Capability[];
  readonly effect: CaseEffect;
}

/** A case that the runner can run without knowing the type that its scenario arranges. */
export interface RunnableCase extends CaseListing {
  readonly order: StartOrder | undefined;
  /** Arranges the start state, and returns the function that runs the case from there. */
  readonly arrange: (context: TestContext) => Promise<() => Promise<CaseObservation | undefined>>;
}

/** Returns a case without the members that only the runner needs. */
export function listedCase({ arrange: _, order: __, ...listing }: RunnableCase): CaseListing {
  return listing;
}

/**
 * Returns the cases of a scenario, ready to run. Throws when a case judges what the contract leaves
 * open, or only observes what the contract requires.
 */
export function defineScenario<Arranged>(
  scenario: ScenarioDefinition<Arranged>,
): readonly RunnableCase[] {
  return scenario.cases.map((each) => ({
    ...checkedListing(scenario, each),
    order: scenario.order,
    arrange: async (givenContext) => {
      const needs = needsOf(scenario, each);
      const context = needs.some(isControl) ? await givenContext.isolated(needs) : givenContext;
      const arranged = await scenario.arrange(context);
      return async () => {
        if ('observe' in each) return each.observe(arranged, context);
        await each.run(arranged, context);
        return undefined;
      };
    },
  }));
}

/** Checks that a case observes exactly when the level of its requirements is `may`. */
function checkedListing<Arranged>(
  scenario: ScenarioDefinition<Arranged>,
  each: JudgingCase<Arranged> | ObservingCase<Arranged>,
): CaseListing {
  const listing = listingOf(scenario, each);
  if ('observe' in each === (listing.level === 'may')) return listing;
  throw new Error(`${listing.id} does not fit the level of its requirements, ${listing.level}`);
}

function listingOf(
  scenario: Pick<ScenarioDefinition<never>, 'area' | 'name' | 'start' | 'effect' | 'needs'>,
  properties: CaseProperties,
): CaseListing {
  return {
    id: `${scenario.area}/${properties.id}`,
    title: properties.title,
    scenario: scenario.name,
    start: scenario.start,
    level: levelOf(properties.requirements),
    requirements: properties.requirements,
    covers: properties.covers ?? [],
    needs: needsOf(scenario, properties),
    effect: scenario.effect,
  };
}

function needsOf(
  scenario: Pick<ScenarioDefinition<never>, 'needs'>,
  { needs = [], requirements: ids, covers = [] }: CaseProperties,
): readonly Capability[] {
  const implied = [...partsNeededBy(ids, covers), ...behavioursNeededBy(ids)];
  return [...new Set([...(scenario.needs ?? []), ...needs, ...implied])];
}

/** Returns the most binding level among the requirements. */
function levelOf(ids: readonly RequirementId[]): RequirementLevel {
  const levels = ids.map((id) => requirements[id].level);
  return (['must', 'should', 'may'] as const).find((level) => levels.includes(level)) ?? 'may';
}
