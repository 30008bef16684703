/**
 * Contexts of behaviour hooks: the information and the actions that a hook has between polls and
 * during an update.
 */
import { limits } from '../../fixtures/contract/limits.ts';
import type { Alert } from '../../fixtures/contract/resources.ts';
import { type ClientSession, newSession } from '../api-client/session.ts';
import {
  type CycleContext,
  type DownloadContext,
  type LogLevel,
  type RebootContext,
  UpdateFailure,
} from '../behaviours/behaviour.ts';
import { PowerLoss } from '../network/errors.ts';
import { type DeploymentRecord, isSettled, type SimulatedDevice } from './device.ts';
import type { DeviceInRun } from './environment.ts';
import { DeviceHookContext } from './hook-context.ts';
import { inventoryOf } from './inventory.ts';
import { runInBackground } from './retries.ts';
import type { UpdateLog } from './update-log.ts';

/** Context of a hook that runs between two polls. */
export class BetweenPollsContext extends DeviceHookContext implements CycleContext {
  readonly #subject: DeviceInRun;

  constructor(subject: DeviceInRun) {
    super(subject.device, subject.environment);
    this.#subject = subject;
  }

  readonly postAlerts = (alerts: readonly Alert[]): Promise<void> => {
    const { session, environment } = this.#subject;
    const sentAlerts = alerts.slice(0, limits.alertsMax);
    return runInBackground(environment, () => environment.client.postAlerts(session, sentAlerts));
  };

  readonly rotateKey = async (): Promise<void> => {
    const { device, session, environment } = this.#subject;
    const key = await environment.keyFor(device, device.keyGeneration + 1);
    device.keyGeneration++;
    session.key = key;
    session.token = undefined;
    environment.recordChange(device);
    await environment.client.authenticate(session);
  };

  readonly reportFinishedAgain = async (): Promise<void> => {
    const { device, session, environment } = this.#subject;
    const deployment = device.deployments.findLast(
      (each) => isSettled(each) && each.reported.length > 0,
    );
    const status = deployment?.reported.at(-1);
    if (deployment === undefined || status === undefined) return;
    await runInBackground(environment, async () => {
      await environment.client.reportStatus(session, deployment.deploymentId, { status });
    });
  };

  readonly runClone = async (artifactName: string): Promise<void> => {
    const { device, environment } = this.#subject;
    const session = cloneOf(device, this.#subject.session);
    const provides = { ...device.provides, artifact_name: artifactName };
    await runInBackground(environment, async () => {
      await environment.client.sendInventory(session, inventoryOf({ ...device, provides }));
      await environment.client.nextDeployment(session, provides);
    });
  };
}

const clones = new WeakMap<SimulatedDevice, ClientSession>();

/**
 * Returns the session of a second device with the same identity and key but a different token. It
 * is created once for each device.
 */
function cloneOf(device: SimulatedDevice, { caller, idData, key }: ClientSession): ClientSession {
  const clone = clones.get(device) ?? newSession(caller, idData, key);
  clones.set(device, clone);
  return clone;
}

/** Options of the hook context of an update. */
export interface UpdateContextOptions {
  readonly subject: DeviceInRun;
  readonly deployment: DeploymentRecord;
  readonly log: UpdateLog;
}

/**
 * Context of the hooks of an update. The engine sets `fromByte` and `reboots` before it calls a
 * hook.
 */
export class DuringUpdateContext
  extends DeviceHookContext
  implements DownloadContext, RebootContext
{
  readonly #options: UpdateContextOptions;
  readonly deploymentId: string;
  readonly attempt: number;
  fromByte = 0;
  reboots = 0;

  constructor(options: UpdateContextOptions) {
    super(options.subject.device, options.subject.environment);
    this.#options = options;
    this.deploymentId = options.deployment.deploymentId;
    this.attempt = options.deployment.attempts;
  }

  /** The device's record of the deployment, for the engine; hooks do not see it. */
  get deployment(): DeploymentRecord {
    return this.#options.deployment;
  }

  readonly log = (level: LogLevel, message: string): void => this.#options.log.add(level, message);

  readonly requestAbort = (): Promise<boolean> => {
    const { deployment, subject } = this.#options;
    deployment.abortRequested = true;
    return subject.environment.abortDevice(subject.device);
  };

  readonly fail = (reason: string): never => {
    throw new UpdateFailure(reason);
  };

  readonly losePower = (offMs: number): never => {
    throw new PowerLoss(offMs);
  };
}
