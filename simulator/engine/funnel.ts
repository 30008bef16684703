/** The progress of a fleet through its deployment: counts that add up to the fleet. */

import type { Target } from '../client/management.ts';
import type { DeploymentPart, Device } from '../device/device.ts';
import { isFinal } from '../device/update-states.ts';
import type { Funnel, Outcome } from '../result/result-devices.ts';
import type { Accounts } from '../result/result-figures.ts';

/** Returns the device deployment that counts: that of the run's own deployment, else the latest. */
export function countedPart(
  device: Device,
  target: Target | undefined,
): DeploymentPart | undefined {
  if (target === undefined) return device.parts.at(-1);
  return device.parts.find((part) => part.deploymentId === target.deploymentId);
}

/** Returns the outcome of a device so far. */
export function outcomeOf(device: Device, target: Target | undefined): Outcome {
  return outcomeBy(device, countedPart(device, target));
}

function outcomeBy(device: Device, part: DeploymentPart | undefined): Outcome {
  if (part) return isFinal(part.state) ? part.state : 'underway';
  if (device.life === 'waiting') return 'waiting';
  return device.life === 'silent' || device.life === 'unstarted' ? 'silent' : 'idle';
}

/** Returns the counts over all devices. */
export function funnelOf(devices: readonly Device[], target: Target | undefined): Funnel {
  const outcomes = new Map<Outcome, number>();
  const reports = new Map<string, number>();
  let offered = 0;
  for (const device of devices) {
    const part = countedPart(device, target);
    count(outcomes, outcomeBy(device, part));
    if (part === undefined) continue;
    if (wasOffered(part)) offered++;
    // A status that was reported again counts once.
    part.reported.forEach((status, at, all) => {
      if (all.indexOf(status) === at) count(reports, status);
    });
  }
  const ended = (outcome: Outcome): number => outcomes.get(outcome) ?? 0;
  const reached = (status: DeploymentPart['reported'][number]): number => reports.get(status) ?? 0;
  return {
    devices: devices.length,
    offered,
    downloading: reached('downloading'),
    installing: reached('installing'),
    rebooting: reached('rebooting'),
    success: ended('success'),
    failure: ended('failure'),
    aborted: ended('aborted'),
    alreadyInstalled: ended('already-installed'),
    underway: ended('underway'),
    idle: ended('idle'),
    waiting: ended('waiting'),
    silent: ended('silent'),
  };
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** A device that the server found to have the artifact was offered nothing and reported nothing. */
function wasOffered(part: DeploymentPart): boolean {
  return part.state !== 'already-installed' || part.reported.length > 0;
}

/** Returns one state per device; the counts add up to the fleet. */
export function accountsOf(funnel: Funnel): Accounts {
  return {
    waiting: funnel.waiting,
    idle: funnel.idle,
    updating: funnel.underway,
    done: funnel.success + funnel.alreadyInstalled,
    failed: funnel.failure + funnel.aborted,
    silent: funnel.silent,
  };
}
