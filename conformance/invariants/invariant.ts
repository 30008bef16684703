/** The form of an invariant: a rule of the contract that every exchange is held against. */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { JudgedExchange } from './judged-exchange.ts';
import type { RunMemory } from './run-memory.ts';

/** What an exchange has against it. */
export interface Fault {
  /** What is wrong, such as `200 body: /timezone`. */
  readonly where: string;
  /** What must hold of it, after "must". */
  readonly must: string;
  /** What was seen, in a few words. */
  readonly seen: string;
  /** The requirement, where it is not the invariant's own. */
  readonly requirement?: RequirementId;
  /** A requirement of the operation that it breaks beside. */
  readonly beside?: RequirementId;
}

/** One invariant. */
export interface Invariant {
  /** Stable name, such as `error-body`. */
  readonly id: string;
  /** The requirement that it judges; undefined when each operation has one of its own. */
  readonly requirement?: RequirementId;
  /** Whether it says anything of the exchange; cheap, since it is asked of every one. */
  readonly applies: (exchange: JudgedExchange) => boolean;
  /** What is wrong; undefined when it holds. */
  readonly fault: (exchange: JudgedExchange, memory: RunMemory) => Fault | undefined;
}

/** The requirement that a fault names. @throws when neither the fault nor its rule names one */
export function requirementOf({ id, requirement }: Invariant, fault: Fault): RequirementId {
  const named = fault.requirement ?? requirement;
  if (named === undefined) throw new Error(`the invariant ${id} names no requirement`);
  return named;
}
