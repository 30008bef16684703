/**
 * A value on the server that requests write and read while others are under way. Which values a read
 * may return follows from the times of the requests alone: a write that ended before the read began is
 * visible, one that overlaps it may be, and one whose outcome is unknown always may be.
 */
import type { Act } from './case-history.ts';

/** Times in milliseconds by one clock. */
export interface Interval {
  readonly fromMs: number;
  readonly untilMs: number;
}

interface Write<Value> extends Interval {
  readonly value: Value;
  /** False if the write may have had no effect. */
  readonly isCertain: boolean;
}

/** Returns when a request was under way. */
export function intervalOf({ exchange: { request } }: Act): Interval {
  return { fromMs: request.sentMs, untilMs: request.endedMs };
}

/** A value with its history of writes. */
class Register<Value> {
  readonly #writes: Write<Value>[];

  /** @param initial the value before the first write; absent if it is not known */
  constructor(...initial: readonly [] | readonly [Value]) {
    const always = { fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.NEGATIVE_INFINITY };
    this.#writes = initial.map((value) => ({ value, isCertain: true, ...always }));
  }

  /**
   * Records a write.
   * @param settleMs how long an earlier value may still be read after the write ended
   */
  write(value: Value, { outcome, ...act }: Act, settleMs = 0): void {
    if (outcome === 'refused') return;
    const { fromMs, untilMs } = intervalOf({ outcome, ...act });
    const isCertain = outcome === 'done';
    const endMs = isCertain ? untilMs + settleMs : Number.POSITIVE_INFINITY;
    this.#writes.push({ value, isCertain, fromMs, untilMs: endMs });
  }

  /**
   * Returns the values that a read may return; undefined if any may be, since no certain write
   * precedes it.
   */
  possible({ fromMs, untilMs }: Interval): readonly Value[] | undefined {
    const before = this.#writes.filter((write) => write.fromMs <= untilMs);
    const settled = before.filter((write) => write.isCertain && write.untilMs <= fromMs);
    if (settled.length === 0) return undefined;
    const isOverwritten = (write: Write<Value>): boolean =>
      settled.some((later) => later !== write && later.fromMs > write.untilMs);
    return before.filter((write) => !isOverwritten(write)).map(({ value }) => value);
  }
}

/** Values by key, such as the attributes of a device; a key that was never written is absent. */
export class KeyedRegister<Value> {
  readonly #writes: {
    readonly act: Act;
    readonly values: ReadonlyMap<string, Value | undefined>;
    readonly isWhole: boolean;
  }[] = [];

  /** Records that a request set some keys; the value undefined removes one. */
  update(values: ReadonlyMap<string, Value | undefined>, act: Act): void {
    this.#writes.push({ act, values, isWhole: false });
  }

  /** Records that a request replaced all keys. */
  replace(values: ReadonlyMap<string, Value>, act: Act): void {
    this.#writes.push({ act, values, isWhole: true });
  }

  /** All keys that were ever written. */
  get keys(): readonly string[] {
    return [...new Set(this.#writes.flatMap(({ values }) => [...values.keys()]))];
  }

  /** Returns what a read of a key may find, as `Register.possible` does; an undefined value is absence. */
  possible(key: string, read: Interval, settleMs = 0): readonly (Value | undefined)[] | undefined {
    const register = new Register<Value | undefined>(undefined);
    for (const { act, values, isWhole } of this.#writes) {
      if (isWhole || values.has(key)) register.write(values.get(key), act, settleMs);
    }
    return register.possible(read);
  }
}
