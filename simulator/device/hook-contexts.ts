/** What behaviours are told, and what they may do, at each moment of a device's life. */

import { limits } from '../../fixtures/contract/limits.ts';
import type { Alert } from '../../fixtures/contract/resources.ts';
import {
  type CycleMoment,
  type DownloadMoment,
  type LogLevel,
  type RebootMoment,
  UpdateFailure,
} from '../behaviours/behaviour.ts';
import { newSession, type Session } from '../client/session.ts';
import { PowerLoss } from '../network/errors.ts';
import { type DeploymentPart, type Device, isSettled } from './device.ts';
import type { UpdateSubject } from './environment.ts';
import { DeviceMoment } from './hook-context.ts';
import { inventoryOf } from './inventory.ts';
import { asChore } from './persistence.ts';
import type { UpdateLog } from './update-log.ts';

/** Between two polls. */
export class BetweenPolls extends DeviceMoment implements CycleMoment {
  readonly #subject: UpdateSubject;

  constructor(subject: UpdateSubject) {
    super(subject.device, subject.world);
    this.#subject = subject;
  }

  readonly postAlerts = (alerts: readonly Alert[]): Promise<void> => {
    const { session, world } = this.#subject;
    const sent = alerts.slice(0, limits.alertsMax);
    return asChore(world, () => world.client.postAlerts(session, sent));
  };

  readonly rotateKey = async (): Promise<void> => {
    const { device, session, world } = this.#subject;
    const key = await world.keyFor(device, device.keyGeneration + 1);
    device.keyGeneration++;
    session.key = key;
    session.token = undefined;
    world.changed(device);
    await world.client.signIn(session);
  };

  readonly reportFinishedAgain = async (): Promise<void> => {
    const { device, session, world } = this.#subject;
    const part = device.parts.findLast((each) => isSettled(each) && each.reported.length > 0);
    const status = part?.reported.at(-1);
    if (part === undefined || status === undefined) return;
    await asChore(world, async () => {
      await world.client.reportStatus(session, part.deploymentId, { status });
    });
  };

  readonly letCloneSpeak = async (artifactName: string): Promise<void> => {
    const { device, world } = this.#subject;
    const session = cloneOf(device, this.#subject.session);
    const provides = { ...device.provides, artifact_name: artifactName };
    await asChore(world, async () => {
      await world.client.sendInventory(session, inventoryOf({ ...device, provides }));
      await world.client.nextDeployment(session, provides);
    });
  };
}

const clones = new WeakMap<Device, Session>();

/** The second device of the same identity: it has the first one's key and a token of its own. */
function cloneOf(device: Device, { caller, idData, key }: Session): Session {
  const known = clones.get(device) ?? newSession(caller, idData, key);
  clones.set(device, known);
  return known;
}

/** What the moments of one update share. */
export interface UpdateMomentOptions {
  readonly subject: UpdateSubject;
  readonly part: DeploymentPart;
  readonly log: UpdateLog;
}

/** While an update is underway; the engine sets the last two fields before it shows the moment. */
export class DuringUpdate extends DeviceMoment implements DownloadMoment, RebootMoment {
  readonly #options: UpdateMomentOptions;
  readonly deploymentId: string;
  readonly beginning: number;
  fromByte = 0;
  reboots = 0;

  constructor(options: UpdateMomentOptions) {
    super(options.subject.device, options.subject.world);
    this.#options = options;
    this.deploymentId = options.part.deploymentId;
    this.beginning = options.part.beginnings;
  }

  /** The engine's own, beside what behaviours are shown. */
  get part(): DeploymentPart {
    return this.#options.part;
  }

  readonly log = (level: LogLevel, message: string): void => this.#options.log.add(level, message);

  readonly askForAbort = (): Promise<boolean> => {
    const { part, subject } = this.#options;
    part.abortAsked = true;
    return subject.world.abortDevice(subject.device);
  };

  readonly fail = (because: string): never => {
    throw new UpdateFailure(because);
  };

  readonly losePower = (offMs: number): never => {
    throw new PowerLoss(offMs);
  };
}
