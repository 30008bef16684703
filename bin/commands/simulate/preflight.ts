/**
 * Checks before a run whether this machine can hold the fleet: open files, local ports and own
 * addresses.
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { countText } from '../../../fixtures/base/count-text.ts';
import type { FleetPlan } from '../../../simulator/engine/simulate-fleet.ts';
import { cohortsOf } from '../../../simulator/plan/cohort.ts';
import { deviceRange } from '../../../simulator/plan/shard.ts';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';

/** Limit on connections for requests in one process. */
const CONNECTIONS_MAX = 256;
const OWN_FILES = 100;

/** Limits of this machine for one process; undefined where a limit is unknown. */
export interface MachineLimits {
  readonly openFilesMax: number | undefined;
  /** Number of local ports for connections from one of the machine's addresses to one server. */
  readonly ports: number | undefined;
}

/**
 * Checks that the machine can hold the connections of the plan.
 * @param processes number of processes over which the devices are spread
 * @throws CommandError with the number that would work, and the remedy
 */
export async function preflight(plan: FleetPlan, processes: number): Promise<void> {
  const sentence = limitProblem(plan, processes, await machineLimits());
  if (sentence !== undefined) throw new CommandError(sentence, exitCodes.setUp);
  for (const address of plan.sourceAddresses ?? []) {
    if (await isOwn(address)) continue;
    const problem = `--source-addresses: ${address} is not an address of this machine; use one that is.`;
    throw new CommandError(problem, exitCodes.setUp);
  }
}

/** Returns a sentence about the limit that the plan exceeds; undefined when it exceeds none. */
export function limitProblem(
  plan: FleetPlan,
  processes: number,
  { openFilesMax, ports }: MachineLimits,
): string | undefined {
  const sockets = socketsOf(plan);
  const perProcess = Math.ceil(sockets / processes);
  const files = perProcess + CONNECTIONS_MAX + OWN_FILES;
  if (openFilesMax !== undefined && files > openFilesMax) {
    const fit = socketsWithin(openFilesMax);
    const enough =
      fit === 0 ? '' : `, or spread the sockets with --processes ${Math.ceil(sockets / fit)}`;
    return (
      `${perProcess} sockets need about ${files} open files, but the limit of a process is ` +
      `${openFilesMax}: ${fit} sockets would work; raise the limit with ulimit -n${enough}.`
    );
  }
  const addresses = plan.sourceAddresses?.length ?? 1;
  const neededPorts = sockets + CONNECTIONS_MAX * processes;
  if (ports === undefined || neededPorts <= ports * addresses) return undefined;
  const fit = Math.max(0, ports * addresses - CONNECTIONS_MAX * processes);
  return (
    `${sockets} sockets and ${CONNECTIONS_MAX * processes} connections need ${neededPorts} ports, but ` +
    `${countText(addresses, 'local address')} can use only ${ports * addresses} to one server: ${fit} sockets ` +
    `would work; give ${Math.ceil(neededPorts / ports)} addresses with --source-addresses.`
  );
}

/** Returns the number of device sockets that a process can hold in addition to its other files. */
export function socketsWithin(openFilesMax: number): number {
  return Math.max(0, openFilesMax - CONNECTIONS_MAX - OWN_FILES);
}

/** Returns the number of devices of this run that hold a socket. */
function socketsOf(plan: FleetPlan): number {
  const { first, end } = deviceRange(plan);
  return Math.ceil((end - first) * connectedShare(plan));
}

/** Returns the share of the devices that hold a socket, from 0 to 1. */
export function connectedShare(plan: FleetPlan): number {
  const cohorts = cohortsOf(plan);
  const weight = cohorts.reduce((sum, cohort) => sum + cohort.weight, 0);
  const connectedCohorts = cohorts.filter(({ policy }) => policy.connect);
  return connectedCohorts.reduce((sum, cohort) => sum + cohort.weight, 0) / weight;
}

/** Returns the limits of this machine for one process. */
export async function machineLimits(): Promise<MachineLimits> {
  const limits = await textOf('/proc/self/limits');
  const range = await textOf('/proc/sys/net/ipv4/ip_local_port_range');
  const [, openFiles] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  const [, first, last] = /^(\d+)\s+(\d+)/.exec(range) ?? [];
  const isKnown = first !== undefined && last !== undefined;
  return {
    openFilesMax: openFiles === undefined ? undefined : Number(openFiles),
    ports: isKnown ? Number(last) - Number(first) + 1 : undefined,
  };
}

/**
 * Returns the text of a file, or an empty string. Only Linux has these files; elsewhere limits are
 * unknown, and no plan is refused.
 */
async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

function isOwn(address: string): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ host: address, port: 0 }, () => server.close(() => resolve(true)));
  });
}
