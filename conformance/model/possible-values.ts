/**
 * What may stand under a name by the contract: often one value, several where it is silent, and
 * with each the requirement that decides it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';

/** The values that a name may have; undefined among them where it may be absent. */
interface Possible<Value> {
  readonly values: readonly (Value | undefined)[];
  readonly because: RequirementId;
}

/** A name that was found otherwise than it may be. */
export interface Misfit {
  readonly name: string;
  readonly allowed: readonly unknown[];
  readonly found: unknown;
  readonly because: RequirementId;
}

/** The values that one device's names may have. */
export class PossibleValues<Value> {
  readonly #names: readonly string[];
  readonly #possible = new Map<string, Possible<Value>>();

  /** @param names every name that is looked at; of others nothing is known */
  constructor(names: readonly string[], becauseAbsent: RequirementId) {
    this.#names = names;
    for (const name of names) {
      this.#possible.set(name, { values: [undefined], because: becauseAbsent });
    }
  }

  /** From now on the name has this value; undefined when it is gone. */
  set(name: string, value: Value | undefined, because: RequirementId): void {
    this.#possible.set(name, { values: [value], because });
  }

  /** From now on the names other than these may have what they had, or be gone. */
  blur(except: readonly string[] = []): void {
    for (const [name, { values, because }] of this.#possible) {
      if (except.includes(name) || values.includes(undefined)) continue;
      this.#possible.set(name, { values: [...values, undefined], because });
    }
  }

  /** From now on nothing is known of any name. */
  forget(): void {
    this.#possible.clear();
  }

  /** Whether the name has a value for sure. */
  has(name: string): boolean {
    const possible = this.#possible.get(name);
    return possible !== undefined && !possible.values.includes(undefined);
  }

  /** Whether all names may be absent. */
  mayBeEmpty(): boolean {
    return this.#names.every((name) => !this.has(name));
  }

  /** The first name that was found otherwise than it may be. */
  misfit(found: Readonly<Record<string, Value>>): Misfit | undefined {
    for (const [name, { values, because }] of this.#possible) {
      if (values.some((value) => isDeepStrictEqual(value, found[name]))) continue;
      return { name, allowed: values, found: found[name], because };
    }
    return undefined;
  }

  /** Takes what was found as the reading that the target chose. */
  settle(found: Readonly<Record<string, Value>>): void {
    for (const [name, { because }] of this.#possible) this.set(name, found[name], because);
  }
}
