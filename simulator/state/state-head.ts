/** The first line of a state log, which identifies the fleet. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { FleetStateError, fileError } from './state-error.ts';
import { readStateLog } from './state-log.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const stateHeadShape = v.object({
  state: v.literal('fleetbed-state/1'),
  baseUrl: v.string(),
  seed: v.string(),
  devices: count,
  /** SHA-256 over the key type and the id_data of every device. */
  identities: v.string(),
  shard: v.exactOptional(v.object({ index: count, of: count })),
});
export type StateHead = v.InferOutput<typeof stateHeadShape>;

/**
 * Checks that the state in a folder belongs to the fleet of the plan.
 * @throws FleetStateError that names the first difference
 */
export function requireSameFleet(storedHead: StateHead, planned: StateHead, folder: string): void {
  const differences: readonly (readonly [string, unknown, unknown])[] = [
    ['the server', storedHead.baseUrl, planned.baseUrl],
    ['the seed', storedHead.seed, planned.seed],
    ['the number of devices', storedHead.devices, planned.devices],
    ['the shard', shardText(storedHead.shard), shardText(planned.shard)],
  ];
  const remedy = 'use the same plan, or another folder';
  for (const [property, storedValue, plannedValue] of differences) {
    if (storedValue === plannedValue) continue;
    const difference = `${property} is ${JSON.stringify(storedValue)} there and ${JSON.stringify(plannedValue)} in the plan`;
    throw new FleetStateError(
      `the state folder ${folder} belongs to another fleet: ${difference}; ${remedy}.`,
    );
  }
  if (storedHead.identities === planned.identities) return;
  throw new FleetStateError(
    `the state folder ${folder} belongs to another fleet: its devices have other key types or id_data; ${remedy}.`,
  );
}

/**
 * Returns the seed of the fleet in a folder; undefined when the folder contains no state.
 * @throws FleetStateError when the state log is damaged
 */
export function keptSeed(folder: string): string | undefined {
  for (const each of [folder, ...shardFolders(folder)]) {
    for (const line of readStateLog(join(each, stateFile))) {
      const head = v.safeParse(stateHeadShape, line);
      return head.success ? head.output.seed : undefined;
    }
  }
  return undefined;
}

/**
 * Checks that the folder does not contain the state of a fleet with another number of shards.
 * @throws FleetStateError
 */
export function requireSameCut(folder: string, shard: StateHead['shard']): void {
  const plannedParts = shard === undefined ? 'one process' : `${shard.of} shards`;
  const storedParts = shardFolders(folder).map((each) => `${each.split('-of-').at(-1)} shards`);
  if (existsSync(join(folder, stateFile))) storedParts.push('one process');
  const otherParts = storedParts.find((each) => each !== plannedParts);
  if (otherParts === undefined) return;
  throw new FleetStateError(
    `the state folder ${folder} belongs to a fleet in ${otherParts}, not in ${plannedParts}; ` +
      'use the same number as before, or another folder.',
  );
}

/** Returns the subfolders of the shards in the folder of a fleet. */
export function shardFolders(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  try {
    const shards = readdirSync(folder).filter((name) => /^shard-\d+-of-\d+$/.test(name));
    return shards.sort().map((name) => join(folder, name));
  } catch (error) {
    throw fileError(`cannot read ${folder}`, error);
  }
}

/** File name of the state log in a state folder. */
export const stateFile = 'fleet.ndjson';

function shardText(shard: StateHead['shard']): string {
  return shard === undefined ? 'none' : `${shard.index} of ${shard.of}`;
}
