/**
 * The origin of a run's deployment: an existing one, one that the run creates, or one that the
 * coordinator creates for all shards.
 */
import type { Clock } from '../../fixtures/base/clock.ts';
import type { DeploymentDevice } from '../../fixtures/contract/management/deployments.ts';
import type { ManagementClient, RunDeployment } from '../api-client/management.ts';
import { beginDeployment, type SimulatedDevice } from '../device/device.ts';
import { StatusError } from '../network/errors.ts';
import { givenPhases } from '../plan/deployment-phases.ts';
import type { FleetPlan } from '../plan/plan.ts';
import type { CoordinatorConnection } from './coordinator-connection.ts';

/**
 * Function that returns the deployment. It is called with the IDs of all devices once every device
 * is accepted.
 * @throws ClientError when the server refuses or does not respond
 */
export type DeploymentSource = (deviceIds: readonly string[]) => Promise<RunDeployment>;

/** The facts and callbacks from which a deployment source is built. */
export interface DeploymentSourceFacts {
  readonly plan: FleetPlan;
  readonly management: ManagementClient;
  readonly devices: readonly SimulatedDevice[];
  readonly clock: Clock;
  readonly coordinator: CoordinatorConnection | undefined;
  /**
   * Returns the deployment that an earlier process of this run had created; undefined without one.
   */
  readonly earlierDeployment: () => RunDeployment | undefined;
  /** Called for each device that had finished the deployment before this process started. */
  readonly onAdopted: (device: SimulatedDevice) => void;
}

/** Returns the source of the plan's deployment; undefined when the plan has no deployment. */
export function deploymentSource(from: DeploymentSourceFacts): DeploymentSource | undefined {
  const { plan, management, coordinator } = from;
  if (plan.deploymentId !== undefined) {
    const { deploymentId } = plan;
    return () => management.deployment(deploymentId);
  }
  const { deploy } = plan;
  if (deploy === undefined) return undefined;
  if (coordinator) return (deviceIds) => askCoordinator(coordinator, deviceIds, from);
  return async (deviceIds) => {
    const earlierDeployment = from.earlierDeployment();
    if (earlierDeployment?.artifactName === deploy) return earlierDeployment;
    return createPlannedDeployment(management, deviceIds, {
      plan,
      deploy,
      nowMs: from.clock.now(),
    });
  };
}

interface DeploymentInput {
  readonly plan: FleetPlan;
  readonly deploy: string;
  /** Current time in milliseconds since the Unix epoch. */
  readonly nowMs: number;
}

/**
 * Creates the deployment of a plan for these devices.
 * @throws ClientError
 */
export async function createPlannedDeployment(
  management: ManagementClient,
  deviceIds: readonly string[],
  { plan, deploy, nowMs }: DeploymentInput,
): Promise<RunDeployment> {
  const { deploymentName, deploymentPhases, devices, seed, shard } = plan;
  const part = shard === undefined ? '' : `, shard ${shard.index}/${shard.of}`;
  const name = deploymentName ?? `${deploy} to ${devices} simulated devices, seed ${seed}${part}`;
  try {
    const phases = deploymentPhases && givenPhases(deploymentPhases, nowMs);
    const deployment = {
      name,
      artifact_name: deploy,
      devices: [...deviceIds],
      ...(phases && { phases }),
    };
    const deploymentId = await management.createDeployment(deployment);
    return { deploymentId, artifactName: deploy };
  } catch (error) {
    const isThere = error instanceof StatusError && error.status === 409;
    if (plan.state === undefined || !isThere) throw error;
    // An earlier process created the deployment but ended before it could store the ID.
    const unfinishedDeployment = await management.findUnfinishedDeployment(name, deploy);
    if (unfinishedDeployment === undefined) throw error;
    return unfinishedDeployment;
  }
}

async function askCoordinator(
  coordinator: CoordinatorConnection,
  deviceIds: readonly string[],
  { plan, management, devices, onAdopted, earlierDeployment }: DeploymentSourceFacts,
): Promise<RunDeployment> {
  const keptDeployment = earlierDeployment();
  const isSame = keptDeployment?.artifactName === plan.deploy;
  const runDeployment = await coordinator.deploymentFor(
    deviceIds,
    isSame ? keptDeployment : undefined,
  );
  if (!coordinator.isTakeover) return runDeployment;
  const recordedDevices: DeploymentDevice[] = [];
  for await (const page of management.deploymentDevices(runDeployment.deploymentId)) {
    recordedDevices.push(...page);
  }
  const adoptedDevices = adoptOutcomes(devices, recordedDevices, runDeployment);
  for (const device of adoptedDevices) onAdopted(device);
  coordinator.reportAdopted(adoptedDevices.length);
  return runDeployment;
}

/**
 * Sets the outcome that the server has recorded on every device that finished the deployment under
 * a lost worker.
 * @returns the devices that were changed
 */
export function adoptOutcomes(
  devices: readonly SimulatedDevice[],
  recorded: readonly DeploymentDevice[],
  runDeployment: RunDeployment,
): readonly SimulatedDevice[] {
  const statuses = new Map(recorded.map(({ id, status }) => [id, status]));
  return devices.filter((device) => {
    const status = device.id === undefined ? undefined : statuses.get(device.id);
    return status !== undefined && adoptDeployment(device, status, runDeployment);
  });
}

function adoptDeployment(
  device: SimulatedDevice,
  status: DeploymentDevice['status'],
  runDeployment: RunDeployment,
): boolean {
  if (device.deployments.some(({ deploymentId }) => deploymentId === runDeployment.deploymentId))
    return false;
  const isReported = status === 'success' || status === 'failure';
  if (!isReported && status !== 'aborted' && status !== 'already-installed') return false;
  const part = beginDeployment(device, runDeployment.deploymentId, runDeployment.artifactName);
  part.state = status;
  if (isReported) part.reported.push(status);
  if (status === 'success') {
    device.provides = { ...device.provides, artifact_name: runDeployment.artifactName };
  }
  return true;
}
