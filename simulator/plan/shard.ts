/**
 * Shards: contiguous ranges of a fleet's devices, each run by a process of its own. A device
 * depends on the whole fleet and its index, never on the number of shards.
 */
import * as v from 'valibot';
import { wholeNumber } from './plan-values.ts';

const SHARDS_MAX = 10_000;

/** The index of a shard, from 0, and the number of shards. */
export const shardShape = v.pipe(
  v.strictObject({ index: wholeNumber(0, SHARDS_MAX - 1), of: wholeNumber(1, SHARDS_MAX) }),
  v.check(({ index, of }) => index < of, 'must have an index below its count'),
);

/** A range of device indices. */
export interface DeviceRange {
  readonly first: number;
  /** The index after the last device. */
  readonly end: number;
}

/** Returns the devices that a plan runs: those of its shard, or all. */
export function deviceRange(plan: {
  readonly devices: number;
  readonly shard?: { readonly index: number; readonly of: number } | undefined;
}): DeviceRange {
  const { devices, shard = { index: 0, of: 1 } } = plan;
  const boundary = (index: number): number => Math.floor((devices * index) / shard.of);
  return { first: boundary(shard.index), end: boundary(shard.index + 1) };
}
