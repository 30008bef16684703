/**
 * What the operator wants a device to do at the three moments of an update at which he can stop it.
 * Spec: UpdateControlMap
 */
import type {
  DeploymentInstructionsV2,
  UpdateControlMap,
} from '../../fixtures/contract/resources.ts';
import type { ControlMapState } from '../../fixtures/contract/vocabulary.ts';
import { UpdateFailure } from '../behaviours/behaviour.ts';
import { persistently } from './persistence.ts';
import type { UpdateSubject } from './update-run.ts';

/** The control map of one deployment, as this device knows it. */
export class ControlMap {
  readonly #subject: UpdateSubject;
  readonly #deploymentId: string;
  readonly #hasMap: boolean;
  #map: UpdateControlMap | undefined;
  /** The instructions bring the map of the first moment with them. */
  #fresh = true;

  constructor(subject: UpdateSubject, { id, artifact }: DeploymentInstructionsV2) {
    this.#subject = subject;
    this.#deploymentId = id;
    this.#map = artifact.update_control_map;
    this.#hasMap = this.#map !== undefined;
  }

  /**
   * Whether the device has to wait at this moment. The map may change while an update goes on, so
   * it is fetched anew each time; a deployment that came without one is not asked about.
   * @throws UpdateFailure when the map says fail, or something that no device understands;
   * ClientError, FleetStopped
   */
  async holdsAt(moment: ControlMapState): Promise<boolean> {
    if (!this.#hasMap) return false;
    if (!this.#fresh) this.#map = await this.#fetched();
    this.#fresh = false;
    const action = this.#map?.states?.[moment]?.action || 'continue';
    if (action === 'pause') return true;
    // With one map at a time there is nothing that force_continue could overrule.
    if (action === 'continue' || action === 'force_continue') return false;
    const said = action === 'fail' ? 'says fail' : `asks for the unknown action "${action}"`;
    throw new UpdateFailure(`the update control map ${said} at ${moment}`);
  }

  /** A deployment that is gone answers the next report with 409; until then nothing holds it. */
  async #fetched(): Promise<UpdateControlMap | undefined> {
    const { device, session, world } = this.#subject;
    const map = await persistently(device, world, () =>
      world.client.controlMap(session, this.#deploymentId),
    );
    return map === 'gone' ? undefined : map;
  }
}
