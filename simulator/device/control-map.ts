/**
 * Applies an update control map, with which a user can pause or stop an update in three of its
 * states. A map expires when the device cannot fetch it again in time; then its fallback action
 * applies.
 * Spec: UpdateControlMap
 */
import type {
  DeploymentInstructionsV2,
  UpdateControlMap,
} from '../../fixtures/contract/resources.ts';
import type { ControlMapState } from '../../fixtures/contract/vocabulary.ts';
import { UpdateFailure } from '../behaviours/behaviour.ts';
import type { DeploymentRecord } from './device.ts';
import { sleepUntilDue } from './device-time.ts';
import type { DeviceInRun } from './environment.ts';
import { ATTEMPTS_MAX, isTransient, waitAfterMs } from './retries.ts';

/**
 * Lifetime of a map in poll intervals, as on real devices: a map not fetched for longer has
 * expired.
 */
const LIFETIME_POLLS = 2;

type StateEntry = NonNullable<UpdateControlMap['states']>[string];

/** The control map of one deployment on one device. */
export class ControlMap {
  readonly #subject: DeviceInRun;
  readonly #deploymentId: string;
  readonly #hasMap: boolean;
  #map: UpdateControlMap | undefined;
  /** True until the first use of a map that came with the instructions, which needs no fetch. */
  #isFresh: boolean;
  /** Monotonic milliseconds when the server last sent the map; undefined when it never did. */
  #receivedMs: number | undefined;
  #hasRunOut = false;

  private constructor(
    subject: DeviceInRun,
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

  /** Returns the control map of an update that starts with these instructions. */
  static of(subject: DeviceInRun, { id, artifact }: DeploymentInstructionsV2): ControlMap {
    return new ControlMap(subject, id, { map: artifact.update_control_map });
  }

  /** Returns the control map of an update that a restart interrupted; the device must fetch it. */
  static afterRestart(subject: DeviceInRun, { deploymentId }: DeploymentRecord): ControlMap {
    return new ControlMap(subject, deploymentId, undefined);
  }

  /**
   * Returns true when the device must wait in this state. The map can change during an update, so
   * the device fetches it in every state. Nothing is fetched for a deployment that came without a
   * map.
   * @throws UpdateFailure when the action is `fail` or unknown; ClientError, FleetStopped
   */
  async isPausedAt(context: ControlMapState): Promise<boolean> {
    if (!this.#hasMap) return false;
    if (!this.#isFresh) await this.#fetch();
    this.#isFresh = false;
    const entry = this.#map?.states?.[context];
    const action = (this.#hasRunOut ? actionAtEnd(entry) : entry?.action) || 'continue';
    if (action === 'pause' && !this.#hasRunOut) return true;
    // Only one map exists, so `force_continue` overrides no other map and equals `continue`.
    if (action === 'continue' || action === 'force_continue') return false;
    const reason = action === 'fail' ? 'says fail' : `asks for the unknown action "${action}"`;
    const when = this.#hasRunOut ? ', which has expired and could not be fetched again,' : '';
    throw new UpdateFailure(`the update control map${when} ${reason} at ${context}`);
  }

  /**
   * Fetches the map, with retries. A deployment that no longer exists has no map, so the update
   * continues until the server answers its next report with 409.
   */
  async #fetch(): Promise<void> {
    const { device, session, environment } = this.#subject;
    for (let attempt = 1; ; attempt++) {
      try {
        const map = await environment.client.controlMap(session, this.#deploymentId);
        this.#map = map === 'not-found' ? undefined : map;
        this.#receivedMs = environment.clock.monotonicMs();
        this.#hasRunOut = false;
        return;
      } catch (error) {
        // A map that was never received cannot expire, so the number of tries is limited instead.
        const leftMs = this.#lifetimeLeftMs();
        if (!isTransient(error) || (leftMs === undefined && attempt === ATTEMPTS_MAX)) throw error;
        environment.metrics.countError(error);
        this.#hasRunOut = leftMs !== undefined && leftMs <= 0;
        if (this.#hasRunOut) return;
        const waitMs = waitAfterMs(error, attempt, { device, environment });
        await sleepUntilDue(device, environment, Math.min(waitMs, leftMs ?? waitMs));
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

/**
 * Returns the action of an expired map: `on_map_expire`, or else the action of the entry. The
 * action `pause` becomes `fail`, so that no device waits forever.
 */
function actionAtEnd(entry: StateEntry | undefined): string | undefined {
  const { action, on_map_expire: atEnd } = entry ?? {};
  if (typeof atEnd === 'string' && atEnd !== '') return atEnd;
  return action === 'pause' ? 'fail' : action;
}
