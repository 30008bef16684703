/**
 * `import { runFleet } from 'fleetbed/simulator'`: runs a fleet of simulated devices against a
 * server and returns its result, as `fleetbed simulate` does.
 */
import { systemClock } from '../../fixtures/base/clock.ts';
import { systemRandom } from '../../fixtures/base/random.ts';
import type { Behaviour } from '../../simulator/behaviours/behaviour.ts';
import { addOwnBehaviours, readBehaviourFiles } from '../../simulator/behaviours/behaviour-file.ts';
import { behaviours as catalogue, knownBehaviours } from '../../simulator/behaviours/catalogue.ts';
import {
  type FleetEvent,
  type FleetProgress,
  type FleetResult,
  simulateFleet,
} from '../../simulator/engine/simulate-fleet.ts';
import { type PlanInput, planOf } from '../../simulator/plan/plan.ts';
import { fleetReport } from '../../simulator/report/text.ts';
import { judgeFor } from '../commands/simulate/checks.ts';
import { fleetFormats } from '../options/fleet-formats.ts';
import { renderRun } from '../options/reports.ts';
import { packageVersion } from '../output/version.ts';

export { BehaviourFileError } from '../../simulator/behaviours/behaviour-file.ts';
export {
  ClientError,
  type FleetEvent,
  type FleetProgress,
  type FleetResult,
  PlanError,
  StateError,
} from '../../simulator/engine/simulate-fleet.ts';
export { IdentityError } from '../../simulator/identity/identity-error.ts';
export type { Behaviour };

/**
 * Members of a plan file that the command line reads, or that only a run of several processes has.
 */
type CommandMember = 'accept' | 'email' | 'password' | 'token' | 'ca' | 'cert' | 'key' | 'shard';

/**
 * The plan of a fleet: the members of a plan file (`fleetbed simulate --plan-schema`, and "Options"
 * in `simulator/guide.md`) in its notation, such as `poll: '5s'`. The login of the user who accepts
 * the devices and creates the deployment is `acceptWith`; certificates are texts in PEM in `tls`.
 */
export type FleetPlan = Omit<PlanInput, CommandMember> & {
  /** Base URL of the server, such as `http://127.0.0.1:8080`. */
  readonly url: string;
};

/** Options of a run besides its plan. */
export interface FleetOptions {
  /** Behaviours in addition to the built-in ones, for `behaviour` of the plan. */
  readonly behaviours?: readonly Behaviour[];
  /** Ends the run: open deployments get the plan's `drain` to finish. */
  readonly signal?: AbortSignal;
  /** Called at the start, then about once a second, and once at the end. */
  readonly onProgress?: (progress: FleetProgress) => void;
  /** Called synchronously for every event of every device, so it must return quickly. */
  readonly onEvent?: (event: FleetEvent) => void;
}

/** The built-in behaviours, in the order of `fleetbed simulate behaviours`. */
export const behaviours: readonly Behaviour[] = [...catalogue.values()];

/**
 * Runs a fleet against a server until the plan ends or `signal` aborts.
 * @returns the outcome of every device, with traffic, latencies in milliseconds, errors, and the
 *   comparison with what the server recorded
 * @throws PlanError for an invalid plan and BehaviourFileError for an invalid behaviour, before
 *   anything starts; IdentityError when the devices cannot be built; StateError when the state of the
 *   fleet cannot be stored; ClientError when the server cannot be reached, or refuses the login or
 *   the deployment
 */
export async function runFleet(
  plan: FleetPlan,
  { behaviours: ownBehaviours = [], signal, onProgress, onEvent }: FleetOptions = {},
): Promise<FleetResult> {
  addOwnBehaviours(ownBehaviours);
  await readBehaviourFiles(plan.behaviourFile ?? []);
  const checkedPlan = planOf({ seed: systemRandom.uuid().slice(0, 8), ...plan }, knownBehaviours);
  return simulateFleet(checkedPlan, {
    clock: systemClock,
    signal: signal ?? new AbortController().signal,
    version: packageVersion(),
    judge: await judgeFor(checkedPlan),
    ...(onProgress && { onProgress }),
    ...(onEvent && { onEvent }),
  });
}

/**
 * Renders a result as `fleetbed simulate` does: `text` for a terminal, or a report format.
 * @throws RangeError for an unknown format
 */
export function renderFleet(
  result: FleetResult,
  format: 'text' | 'json' | 'junit' | 'html' | 'csv',
): string {
  return renderRun([{ format: 'text', render: fleetReport }, ...fleetFormats], format, result);
}
