/** The form of a rule of passive judging: what the contract says of an exchange, whoever made it. */
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import { shownAnswer } from '../target/expectations.ts';
import type { DeviceMemory } from './device-memory.ts';
import type { JudgedExchange } from './judged-exchange.ts';
import type { RunMemory } from './run-memory.ts';

/** How an exchange violates a rule: `where` must `must`, but `seen` was seen. */
export interface Violation {
  /** What is wrong, such as `200 body: /timezone`. */
  readonly where: string;
  /** What must hold of it, after "must". */
  readonly must: string;
  /** What was seen, in a few words. */
  readonly seen: string;
  /** The requirement, where it is not the rule's own. */
  readonly requirement?: RequirementId;
  /** A requirement of the operation that it violates beside. */
  readonly beside?: RequirementId;
}

/** A violation with the requirement that it violates. */
export interface NamedViolation extends Violation {
  readonly requirement: RequirementId;
}

/** What earlier exchanges have shown. */
export interface Memory {
  /** Of the server, whoever asked. */
  readonly run: RunMemory;
  /** Of the device whose exchange it is, before this exchange; empty where nobody knows which. */
  readonly device: DeviceMemory;
}

/** One rule. Where it cannot tell without doubt, it does not apply. */
export interface PassiveRule {
  /** Stable name by which other code refers to it, such as `error-body`. */
  readonly id?: string;
  /** The requirement that it judges; undefined when each operation has one of its own. */
  readonly requirement?: RequirementId;
  /** Ids of the operations whose exchanges it looks at; every operation when absent. */
  readonly operations?: readonly string[];
  /** Whether it says anything of the exchange; cheap, since it is asked of every one. */
  readonly applies: (exchange: JudgedExchange, memory: Memory) => boolean;
  /** What is wrong; undefined when it holds. */
  readonly violation: (exchange: JudgedExchange, memory: Memory) => Violation | undefined;
  /** The exchange that shows the violation, when it is an earlier one of the device. */
  readonly about?: (exchange: JudgedExchange, memory: Memory) => JudgedExchange | undefined;
}

/** What a rule that applies says of an exchange. */
export interface RuleVerdict {
  readonly rule: PassiveRule;
  /** How the exchange violates the rule; undefined when the rule holds. */
  readonly violation: NamedViolation | undefined;
}

/** Holds an exchange against the rules. @throws when a violation names no requirement */
export function verdictsOn(
  rules: readonly PassiveRule[],
  exchange: JudgedExchange,
  memory: Memory,
): readonly RuleVerdict[] {
  const operation = exchange.row.id;
  return rules
    .filter(({ operations }) => operations?.includes(operation) ?? true)
    .filter((rule) => rule.applies(exchange, memory))
    .map((rule) => {
      const violation = rule.violation(exchange, memory);
      if (violation === undefined) return { rule, violation };
      const requirement = violation.requirement ?? rule.requirement;
      if (requirement === undefined) throw new Error(`the rule ${rule.id} names no requirement`);
      return { rule, violation: { ...violation, requirement } };
    });
}

/** The violation of an exchange whose status is none of these. */
export function otherStatus(
  { answer }: JudgedExchange,
  ...statuses: readonly number[]
): Violation | undefined {
  if (statuses.includes(answer.status)) return undefined;
  return { where: 'the status', must: `be ${statuses.join(' or ')}`, seen: shownAnswer(answer) };
}
