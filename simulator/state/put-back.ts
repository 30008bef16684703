/** Gives a device back what a line of its state says, each line on top of those before. */
import { nextDoors } from '../client/session.ts';
import { type DeploymentPart, type Device, isSettled, rememberPart } from '../device/device.ts';
import type { DeviceLine } from './device-record.ts';

/** Puts a line back; one of a device that is not there says nothing. */
export function putBack(device: Device | undefined, line: DeviceLine): void {
  if (device === undefined) return;
  const { id, token, door, keys, provides, configuration, duties, memory, part } = line;
  const { offUntilMs } = line;
  if (id !== undefined) device.id = id ?? undefined;
  if (keys !== undefined) device.keyGeneration = keys;
  if (provides !== undefined) device.provides = provides;
  if (configuration !== undefined) device.configuration = configuration;
  if (duties !== undefined) device.dutiesDone = duties;
  if (memory !== undefined) device.memory = memory ?? undefined;
  if (offUntilMs !== undefined) device.offUntilMs = offUntilMs ?? undefined;
  if (token !== undefined || door !== undefined) {
    const known = device.remembered;
    device.remembered = {
      token: token === undefined ? known?.token : (token ?? undefined),
      nextDoor: door ?? known?.nextDoor ?? nextDoors[0],
    };
  }
  if (part) putBackPart(device, part);
}

function putBackPart(device: Device, kept: NonNullable<DeviceLine['part']>): void {
  const { deploymentId, artifactName, state, reported, unanswered, abortAsked } = kept;
  const { offeredMs, stateSinceMs, endedMs, before, abortIgnored, beginnings, reboots } = kept;
  const fetched = kept.fetched && { settings: undefined, ...kept.fetched };
  const part: DeploymentPart = {
    ...{ deploymentId, artifactName, state, reported, unanswered, abortAsked, refused: undefined },
    ...{ abortIgnored, beginnings, reboots, offeredMs, stateSinceMs, endedMs, before, fetched },
    cutShort: kept.cutShort,
  };
  if (!isSettled(part)) part.cutShort ??= 'simulator';
  rememberPart(device, part);
}
