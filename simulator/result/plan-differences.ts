/** Lists the differences between the plans of two results, field by field. */
import { printable } from '../../fixtures/base/printable.ts';
import type { PlanSummary } from './result-plan.ts';

/** Maximum number of differences listed; plans with more have little in common. */
const DIFFERENCES_MAX = 20;
const SHOWN_MAX_CHARACTERS = 60;
/** The digest is not listed, because it differs whenever any other field differs. */
const DIGEST = 'digest';

/**
 * Returns clauses such as `devices is 10 in one and 20 in the other`, in the order of the first
 * plan and at most `DIFFERENCES_MAX`; empty when the plans are the same.
 */
export function planDifferences(one: PlanSummary, other: PlanSummary): readonly string[] {
  const { digest: _one, ...first } = one;
  const { digest: _other, ...second } = other;
  const differences = differencesIn(first, second, '').slice(0, DIFFERENCES_MAX);
  if (differences.length > 0 || one.digest === other.digest) return differences;
  return [clause(DIGEST, one.digest, other.digest)];
}

function differencesIn(one: unknown, other: unknown, path: string): string[] {
  if (hasMembers(one) && hasMembers(other) && Array.isArray(one) === Array.isArray(other)) {
    const [membersOfOne, membersOfOther] = [
      new Map(Object.entries(one)),
      new Map(Object.entries(other)),
    ];
    const names = new Set([...membersOfOne.keys(), ...membersOfOther.keys()]);
    const isList = Array.isArray(one);
    return [...names].flatMap((name) =>
      differencesIn(membersOfOne.get(name), membersOfOther.get(name), pathOf(path, name, isList)),
    );
  }
  return JSON.stringify(one) === JSON.stringify(other) ? [] : [clause(path, one, other)];
}

function hasMembers(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function pathOf(path: string, name: string, isList: boolean): string {
  if (isList) return `${path}[${name}]`;
  return path === '' ? name : `${path}.${name}`;
}

function clause(path: string, one: unknown, other: unknown): string {
  return `${path} is ${valueText(one)} in one and ${valueText(other)} in the other`;
}

function valueText(value: unknown): string {
  return value === undefined ? 'absent' : printable(JSON.stringify(value), SHOWN_MAX_CHARACTERS);
}
