/**
 * The operator's instructions at the three states of an update where it can be paused or stopped. A
 * map that cannot be fetched again expires, and then its fallback action applies.
 * Spec: UpdateControlMap
 */

import type {
  DeploymentInstructionsV2,
  UpdateControlMap,
} from '../../fixtures/contract/resources.ts';
import type { ControlMapState } from '../../fixtures/contract/vocabulary.ts';
import { UpdateFailure } from '../behaviours/behaviour.ts';
import type { DeviceDeployment } from './device.ts';
import { restUntilDue } from './device-time.ts';
import type { UpdateSubject } from './environment.ts';
import { isTransient, triesMax, waitAfterMs } from './persistence.ts';

/** A map not fetched for this many poll intervals has expired, as on field devices. */
const LIFETIME_POLLS = 2;

type StateEntry = NonNullable<UpdateControlMap['states']>[string];

/** The control map of one deployment, as known to this device. */
export class ControlMap {
  readonly #subject: UpdateSubject;
  readonly #deploymentId: string;
  readonly #hasMap: boolean;
  #map: UpdateControlMap | undefined;
  /** The instructions include the map for the first state. */
  #isFresh: boolean;
  /** When the server last sent the map, in monotonic milliseconds; undefined when it never did. */
  #receivedMs: number | undefined;
  #hasRunOut = false;

  private constructor(
    subject: UpdateSubject,
    deploymentId: string,
    received: { readonly map: UpdateControlMap | undefined } | undefined,
  ) {
    this.#subject = subject;
    this.#deploymentId = deploymentId;
    this.#map = received?.map;
    this.#isFresh = received !== undefined;
    this.#hasMap = received === undefined || received.map !== undefined;
    if (received !== undefined) this.#receivedMs = subject.environment.clock.monotonicMs();
  }

  /** Returns the map of an update that begins. */
  static of(subject: UpdateSubject, { id, artifact }: DeploymentInstructionsV2): ControlMap {
    return new ControlMap(subject, id, { map: artifact.update_control_map });
  }

  /** Returns the map of an update interrupted by a restart: the device has to request it. */
  static afterRestart(subject: UpdateSubject, { deploymentId }: DeviceDeployment): ControlMap {
    return new ControlMap(subject, deploymentId, undefined);
  }

  /**
   * Returns true when the device has to wait at this state. The map may change during an update, so
   * it is fetched each time; a deployment that came without a map is not queried.
   * @throws UpdateFailure when the map says fail, or has an unknown action; ClientError,
   * FleetStopped
   */
  async holdsAt(context: ControlMapState): Promise<boolean> {
    if (!this.#hasMap) return false;
    if (!this.#isFresh) await this.#fetch();
    this.#isFresh = false;
    const entry = this.#map?.states?.[context];
    const action = (this.#hasRunOut ? actionAtEnd(entry) : entry?.action) || 'continue';
    if (action === 'pause' && !this.#hasRunOut) return true;
    // With a single map, force_continue has nothing to override.
    if (action === 'continue' || action === 'force_continue') return false;
    const said = action === 'fail' ? 'says fail' : `asks for the unknown action "${action}"`;
    const when = this.#hasRunOut ? ', which has expired and could not be fetched again,' : '';
    throw new UpdateFailure(`the update control map${when} ${said} at ${context}`);
  }

  /** A deployment that is gone answers the next report with 409; until then nothing holds it. */
  async #fetch(): Promise<void> {
    const { device, session, environment } = this.#subject;
    for (let attempt = 1; ; attempt++) {
      try {
        const map = await environment.client.controlMap(session, this.#deploymentId);
        this.#map = map === 'gone' ? undefined : map;
        this.#receivedMs = environment.clock.monotonicMs();
        this.#hasRunOut = false;
        return;
      } catch (error) {
        // A map that was never received cannot expire.
        const leftMs = this.#lifetimeLeftMs();
        if (!isTransient(error) || (leftMs === undefined && attempt === triesMax)) throw error;
        environment.metrics.countError(error);
        this.#hasRunOut = leftMs !== undefined && leftMs <= 0;
        if (this.#hasRunOut) return;
        const waitMs = waitAfterMs(error, attempt, { device, environment });
        await restUntilDue(device, environment, Math.min(waitMs, leftMs ?? waitMs));
      }
    }
  }

  #lifetimeLeftMs(): number | undefined {
    if (this.#receivedMs === undefined) return undefined;
    const { device, environment } = this.#subject;
    const lifetimeMs = LIFETIME_POLLS * device.cohort.policy.pollIntervalMs;
    return this.#receivedMs + lifetimeMs - environment.clock.monotonicMs();
  }
}

/** Without a fallback in the entry the same action applies, but no device waits forever. */
function actionAtEnd(entry: StateEntry | undefined): string | undefined {
  const { action, on_map_expire: atEnd } = entry ?? {};
  if (typeof atEnd === 'string' && atEnd !== '') return atEnd;
  return action === 'pause' ? 'fail' : action;
}
