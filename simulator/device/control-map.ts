/**
 * What the operator wants a device to do at the three moments of an update at which he can stop it.
 * A map that cannot be fetched anew runs out after a while, and then says what is to be done instead.
 * Spec: UpdateControlMap
 */

import type {
  DeploymentInstructionsV2,
  UpdateControlMap,
} from '../../fixtures/contract/resources.ts';
import type { ControlMapState } from '../../fixtures/contract/vocabulary.ts';
import { UpdateFailure } from '../behaviours/behaviour.ts';
import type { DeploymentPart } from './device.ts';
import { restUntilDue } from './device-time.ts';
import type { UpdateSubject } from './environment.ts';
import { mayPass, triesMax, waitAfterMs } from './persistence.ts';

/** A map that was not fetched for so many poll intervals has run out, as on devices in the field. */
const LIFETIME_POLLS = 2;

type StateEntry = NonNullable<UpdateControlMap['states']>[string];

/** The control map of one deployment, as this device knows it. */
export class ControlMap {
  readonly #subject: UpdateSubject;
  readonly #deploymentId: string;
  readonly #hasMap: boolean;
  #map: UpdateControlMap | undefined;
  /** The instructions bring the map of the first moment with them. */
  #isFresh: boolean;
  /** When the server last told it, in monotonic milliseconds; undefined: never. */
  #toldMs: number | undefined;
  #hasRunOut = false;

  private constructor(
    subject: UpdateSubject,
    deploymentId: string,
    told: { readonly map: UpdateControlMap | undefined } | undefined,
  ) {
    this.#subject = subject;
    this.#deploymentId = deploymentId;
    this.#map = told?.map;
    this.#isFresh = told !== undefined;
    this.#hasMap = told === undefined || told.map !== undefined;
    if (told !== undefined) this.#toldMs = subject.environment.clock.monotonicMs();
  }

  /** That of an update that begins. */
  static of(subject: UpdateSubject, { id, artifact }: DeploymentInstructionsV2): ControlMap {
    return new ControlMap(subject, id, { map: artifact.update_control_map });
  }

  /** That of an update which a restart cut short: the device has to ask whether there is one. */
  static afterRestart(subject: UpdateSubject, { deploymentId }: DeploymentPart): ControlMap {
    return new ControlMap(subject, deploymentId, undefined);
  }

  /**
   * Whether the device has to wait at this moment. The map may change while an update goes on, so
   * it is fetched anew each time; a deployment that came without one is not asked about.
   * @throws UpdateFailure when the map says fail, or something that no device understands;
   * ClientError, FleetStopped
   */
  async holdsAt(moment: ControlMapState): Promise<boolean> {
    if (!this.#hasMap) return false;
    if (!this.#isFresh) await this.#fetch();
    this.#isFresh = false;
    const entry = this.#map?.states?.[moment];
    const action = (this.#hasRunOut ? actionAtEnd(entry) : entry?.action) || 'continue';
    if (action === 'pause' && !this.#hasRunOut) return true;
    // With one map at a time there is nothing that force_continue could overrule.
    if (action === 'continue' || action === 'force_continue') return false;
    const said = action === 'fail' ? 'says fail' : `asks for the unknown action "${action}"`;
    const when = this.#hasRunOut ? ', which could not be fetched anew and has run out,' : '';
    throw new UpdateFailure(`the update control map${when} ${said} at ${moment}`);
  }

  /** A deployment that is gone answers the next report with 409; until then nothing holds it. */
  async #fetch(): Promise<void> {
    const { device, session, environment } = this.#subject;
    for (let attempt = 1; ; attempt++) {
      try {
        const map = await environment.client.controlMap(session, this.#deploymentId);
        this.#map = map === 'gone' ? undefined : map;
        this.#toldMs = environment.clock.monotonicMs();
        this.#hasRunOut = false;
        return;
      } catch (error) {
        // Of a map that nobody has seen nothing can run out.
        const leftMs = this.#lifetimeLeftMs();
        if (!mayPass(error) || (leftMs === undefined && attempt === triesMax)) throw error;
        environment.metrics.fault(error);
        this.#hasRunOut = leftMs !== undefined && leftMs <= 0;
        if (this.#hasRunOut) return;
        const waitMs = waitAfterMs(error, attempt, { device, environment });
        await restUntilDue(device, environment, Math.min(waitMs, leftMs ?? waitMs));
      }
    }
  }

  #lifetimeLeftMs(): number | undefined {
    if (this.#toldMs === undefined) return undefined;
    const { device, environment } = this.#subject;
    const lifetimeMs = LIFETIME_POLLS * device.cohort.policy.pollIntervalMs;
    return this.#toldMs + lifetimeMs - environment.clock.monotonicMs();
  }
}

/** Where the entry does not say: the same action as before, but nobody waits for ever. */
function actionAtEnd(entry: StateEntry | undefined): string | undefined {
  const { action, on_map_expire: atEnd } = entry ?? {};
  if (typeof atEnd === 'string' && atEnd !== '') return atEnd;
  return action === 'pause' ? 'fail' : action;
}
