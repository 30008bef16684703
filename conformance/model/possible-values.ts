/**
 * The values that a configuration key or an attribute may have by the contract: usually one, but
 * several where the contract is silent. Each set has the requirement that determines it.
 */
import { isDeepStrictEqual } from 'node:util';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';

/** The possible values of a name, including undefined where it may be absent. */
interface ValueChoice<Value> {
  readonly values: readonly (Value | undefined)[];
  readonly reason: RequirementId;
}

/** A name with a value that is not possible. */
export interface ImpossibleValue {
  readonly name: string;
  readonly allowed: readonly unknown[];
  readonly found: unknown;
  readonly reason: RequirementId;
}

/** The possible values of one device's names. */
export class PossibleValues<Value> {
  readonly #names: readonly string[];
  readonly #possible = new Map<string, ValueChoice<Value>>();

  /** @param names the names that are checked; values of other names are ignored */
  constructor(names: readonly string[], absenceReason: RequirementId) {
    this.#names = names;
    for (const name of names) {
      this.#possible.set(name, { values: [undefined], reason: absenceReason });
    }
  }

  /** Sets the only possible value of the name; undefined when it is removed. */
  set(name: string, value: Value | undefined, reason: RequirementId): void {
    this.#possible.set(name, { values: [value], reason });
  }

  /** Allows all names except `except` to have their value or to be absent. */
  allowAbsence(exceptNames: readonly string[] = []): void {
    for (const [name, { values, reason }] of this.#possible) {
      if (exceptNames.includes(name) || values.includes(undefined)) continue;
      this.#possible.set(name, { values: [...values, undefined], reason });
    }
  }

  /** Forgets everything about all names. */
  forget(): void {
    this.#possible.clear();
  }

  /** Returns true when the name certainly has a value. */
  has(name: string): boolean {
    const possible = this.#possible.get(name);
    return possible !== undefined && !possible.values.includes(undefined);
  }

  /** Returns true when all names may be absent. */
  mayBeEmpty(): boolean {
    return this.#names.every((name) => !this.has(name));
  }

  /** Returns the first name whose value is not possible. */
  firstImpossible(found: Readonly<Record<string, Value>>): ImpossibleValue | undefined {
    for (const [name, { values, reason }] of this.#possible) {
      if (values.some((value) => isDeepStrictEqual(value, found[name]))) continue;
      return { name, allowed: values, found: found[name], reason };
    }
    return undefined;
  }

  /** Adopts the found values as the target's choice. */
  adopt(found: Readonly<Record<string, Value>>): void {
    for (const [name, { reason }] of this.#possible) this.set(name, found[name], reason);
  }
}
