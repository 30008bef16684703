/** The machines that a run used, described by their properties, without names or paths. */
import * as v from 'valibot';
import type { Immutable } from './immutable.ts';
import { rows, sum } from './mergers.ts';

const text = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const machineShape = v.object({
  fleetbed: v.exactOptional(v.pipe(text, v.description('Version of Fleetbed.'))),
  node: v.pipe(text, v.description('Version of Node, such as v20.19.0.')),
  platform: v.pipe(text, v.description('Operating system, such as linux.')),
  release: v.pipe(text, v.description('Release of the operating system.')),
  architecture: text,
  cpuModel: text,
  cpus: v.pipe(count, v.description('Cores that the process may use.')),
  memoryBytes: v.pipe(count, v.description('Memory that the process may use.')),
  processes: v.pipe(
    count,
    v.description('Number of processes of the run on machines of this kind.'),
  ),
});

/** Schema of the machines of a run. Identical machines share one row. */
export const machinesShape = v.array(machineShape);

/** A kind of machine, and the number of processes of the run on such machines. */
export type MachineFacts = Immutable<v.InferOutput<typeof machineShape>>;

/**
 * Merges the machines of several parts. Identical machines share a row, and the order of the rows
 * does not depend on the order of the parts.
 */
export const mergeMachines = rows<MachineFacts>(
  (row) => machineLine({ ...row, processes: 1 }),
  (parts) => ({ ...parts[0], processes: sum(parts.map(({ processes }) => processes)) }),
);

const GIBIBYTE = 2 ** 30;

/** Describes the machine in one line. */
export function machineLine(machine: MachineFacts): string {
  const { fleetbed, node, platform, release, architecture, cpuModel, cpus, processes } = machine;
  const texts = [
    ...(fleetbed === undefined ? [] : [`fleetbed ${fleetbed}`]),
    `node ${node}`,
    `${platform} ${release} ${architecture}`,
    `${cpus} x ${cpuModel}`,
    `${(machine.memoryBytes / GIBIBYTE).toFixed(1)} GiB`,
    ...(processes === 1 ? [] : [`${processes} processes`]),
  ];
  return texts.join(', ');
}
