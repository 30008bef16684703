/**
 * One value that requests write, with the values that a read may return: every order of overlapping
 * writes is allowed, and a write without a response may or may not have happened.
 */

/** More possible values than this are not tracked. */
const POSSIBLE_MAX = 64;
/** More writes than this are not tracked; a case that writes so often measures something else. */
const WRITES_MAX = 256;

/** When a request was sent and when its response was complete, in milliseconds. */
export interface Span {
  readonly sentMs: number;
  readonly endedMs: number;
}

/** Returns the span of a request whose effect may come at any later time. */
export function withUnknownEnd({ sentMs }: Span): Span {
  return { sentMs, endedMs: Number.POSITIVE_INFINITY };
}

interface Write<Value> extends Span {
  /** The written value; undefined if the contract leaves open what the value becomes. */
  readonly value: Value | undefined;
  /** True if the server acknowledged the write. */
  readonly isSure: boolean;
}

/**
 * A value whose writes are all known. The first write is that of an undetermined value, before all
 * others.
 */
export class TrackedValue<Value> {
  readonly #writes: Write<Value>[] = [
    {
      value: undefined,
      sentMs: Number.NEGATIVE_INFINITY,
      endedMs: Number.NEGATIVE_INFINITY,
      isSure: true,
    },
  ];

  /** Records a write that was acknowledged. @param value undefined for an undetermined value */
  write(value: Value | undefined, { sentMs, endedMs }: Span): void {
    this.#writes.push({ value, sentMs, endedMs, isSure: true });
  }

  /** Records a write that may have happened within the span. */
  mayWrite(value: Value | undefined, { sentMs, endedMs }: Span): void {
    this.#writes.push({ value, sentMs, endedMs, isSure: false });
  }

  /** Returns the values that a read may return; undefined if any may, or too many. */
  possibleAt({ sentMs, endedMs }: Span): readonly Value[] | undefined {
    if (this.#writes.length > WRITES_MAX) return undefined;
    const earlierWrites = this.#writes.filter((each) => each.isSure && each.endedMs <= sentMs);
    // A write is overwritten if another began after its end, and ended before the read began.
    const lastBeganMs = Math.max(...earlierWrites.map((each) => each.sentMs));
    const possibleWrites = this.#writes.filter(
      (each) =>
        each.sentMs < endedMs && !(each.endedMs <= lastBeganMs && !isLast(each, lastBeganMs)),
    );
    if (possibleWrites.length > POSSIBLE_MAX) return undefined;
    const values = possibleWrites.map(({ value }) => value);
    return values.includes(undefined) ? undefined : [...new Set(values as Value[])];
  }
}

function isLast({ sentMs }: Span, lastBeganMs: number): boolean {
  return sentMs === lastBeganMs;
}
