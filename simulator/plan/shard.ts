/**
 * Shards: contiguous ranges of a fleet's devices, each run by its own process. A device is
 * determined by the plan of the whole fleet and its index, never by the number of shards.
 */
import * as v from 'valibot';
import { wholeNumber } from './plan-values.ts';

const SHARDS_MAX = 10_000;

/** Schema of a shard: its index from 0, and the number of shards. */
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

/** Returns the share of the fleet's devices that a plan runs: 1 without shards. */
export function shardShare(plan: Parameters<typeof deviceRange>[0]): number {
  const { first, end } = deviceRange(plan);
  return (end - first) / plan.devices;
}

/** Returns the range of devices that a plan runs: the devices of its shard, or all devices. */
export function deviceRange(plan: {
  readonly devices: number;
  readonly shard?: { readonly index: number; readonly of: number } | undefined;
}): DeviceRange {
  const { devices, shard = { index: 0, of: 1 } } = plan;
  const boundary = (index: number): number => Math.floor((devices * index) / shard.of);
  return { first: boundary(shard.index), end: boundary(shard.index + 1) };
}
