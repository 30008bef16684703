/** Requests of a user about a client: accepts or rejects it, deploys, aborts. */
import { type Random, seededRandom } from '../../fixtures/base/random.ts';
import type { ServerEvent } from '../../fixtures/control/client-event.ts';
import { writeArtifact } from '../../fixtures/formats/mender-artifact-writer.ts';
import { singleFilePayload } from '../../fixtures/formats/update-modules.ts';
import type { Testbed } from '../../server/testbed.ts';
import type { lastPoll } from './conditions.ts';
import { type OfferedUpdate, SceneStopped } from './scene.ts';

/** Bytes of the file in an artifact; the faults of the scenes act at positions in it. */
const PAYLOAD_BYTES = 262_144;

/** Directory on the device into which the module `single-file` puts the file. */
const DESTINATION = '/var/lib/fleetbed';

/** The dependencies of a server user. */
export interface ServerUserParts {
  readonly testbed: Testbed;
  readonly payloadType: string;
  readonly seed: string;
  /** Returns what the client polled for last. */
  readonly lastPoll: () => ReturnType<typeof lastPoll>;
  /** Called after each change, for the judge. */
  readonly recordEvent: (event: ServerEvent['event'], about?: string) => void;
}

/** The user of a server with one client. */
export class ServerUser {
  readonly #parts: ServerUserParts;
  readonly #random: Random;
  #deployed: { readonly id: string; readonly artifactName: string } | undefined;
  #artifactBytes = 0;
  #artifacts = 0;
  #isAccepted = false;

  constructor(parts: ServerUserParts) {
    this.#parts = parts;
    this.#random = seededRandom(`${parts.seed}/artifacts`);
  }

  /** True once the client was accepted, unless it was rejected since. */
  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  /** Name of the artifact that was deployed last. */
  get artifactName(): string {
    return this.#deployed?.artifactName ?? '';
  }

  /** Returns the number of bytes of this part of the artifact: at least one, and never all. */
  bytesOf(part: number): number {
    return Math.min(Math.max(1, Math.floor(part * this.#artifactBytes)), this.#artifactBytes - 1);
  }

  /** Accepts every key of the client. */
  accept(): Promise<void> {
    return this.#decide('accepted');
  }

  /** Rejects every key of the client. */
  reject(): Promise<void> {
    return this.#decide('rejected');
  }

  /** Deploys to the client what it polled for last. @throws SceneStopped */
  async deploy(update: OfferedUpdate): Promise<void> {
    this.#deployed =
      update.offer === 'configuration'
        ? await this.#deployConfiguration()
        : await this.#deployArtifact(update);
    this.#parts.recordEvent('deployed', this.#deployed.id);
  }

  /** Aborts the last deployment, unless it has ended. */
  async abort(): Promise<void> {
    if (this.#deployed === undefined) return;
    const { id } = this.#deployed;
    const json = { status: 'aborted' } as const;
    await unlessEnded(
      this.#parts.testbed.admin.call('abort-deployment', { parameters: { id }, json }),
    );
    this.#parts.recordEvent('deployment-aborted', id);
  }

  /** Lets the control map of the last deployment continue everywhere. */
  async continueMap(): Promise<void> {
    const id = this.#deployed?.id ?? '';
    const json = { update_control_map: { states: {} } };
    await unlessEnded(
      this.#parts.testbed.admin.call('update-deployment', { parameters: { id }, json }),
    );
  }

  /** Requests a poll of the client by its WebSocket. */
  async checkUpdate(): Promise<void> {
    const parameters = { id: await this.#deviceId() };
    await this.#parts.testbed.admin.call('check-device-update', { parameters });
  }

  async #decide(status: 'accepted' | 'rejected'): Promise<void> {
    const { admin } = this.#parts.testbed;
    const { body } = await admin.call('list-devices');
    for (const { id, auth_sets: sets } of body) {
      for (const { id: aid, status: former } of sets) {
        if (former === status || former === 'preauthorized') continue;
        const parameters = { id, aid };
        await admin.call('set-auth-set-status', { parameters, json: { status } });
      }
    }
    this.#isAccepted = status === 'accepted';
    this.#parts.recordEvent(status);
  }

  async #deployConfiguration() {
    const { admin } = this.#parts.testbed;
    const parameters = { id: await this.#deviceId() };
    const json = { tested: String(this.#random.integer(1, 1_000_000)) };
    await admin.call('set-configuration', { parameters, json });
    const { body } = await admin.call('deploy-configuration', { parameters, json: {} });
    return { id: body.deployment_id, artifactName: '' };
  }

  async #deployArtifact({ offer, states }: OfferedUpdate) {
    const device = await this.#deviceId();
    const lastPoll = this.#parts.lastPoll();
    if (lastPoll === undefined)
      throw new SceneStopped('no poll of the client has device_type and artifact_name');
    this.#artifacts += 1;
    const artifactName =
      offer === 'installed' ? lastPoll.artifactName : `tested-${this.#artifacts}`;
    await this.#upload(artifactName, lastPoll.deviceType);
    const map = states && {
      states: Object.fromEntries(
        Object.entries(states).map(([state, action]) => [state, { action }]),
      ),
    };
    const { headers } = await this.#parts.testbed.admin.call('create-deployment', {
      json: {
        name: artifactName,
        artifact_name: artifactName,
        devices: [device],
        ...(offer === 'installed' && { force_installation: true }),
        ...(map && { update_control_map: map }),
      },
    });
    return { id: headers.get('location')?.split('/').at(-1) ?? '', artifactName };
  }

  async #deviceId(): Promise<string> {
    const { body } = await this.#parts.testbed.admin.call('list-devices', {
      query: { status: 'accepted' },
    });
    const [device] = body;
    if (device === undefined) throw new SceneStopped('the client is not accepted any more');
    return device.id;
  }

  async #upload(name: string, deviceType: string): Promise<void> {
    const { payloadType, testbed } = this.#parts;
    const file = { name: 'update.bin', content: this.#random.bytes(PAYLOAD_BYTES) };
    // The field's module of this name reads its destination from further files.
    const { files } =
      payloadType === 'single-file' ? singleFilePayload(DESTINATION, file) : { files: [file] };
    const bytes = await writeArtifact({
      name,
      deviceTypes: [deviceType],
      payloadType,
      modifiedMs: 0,
      files,
      // A byte that a fault flips is one of the payload then, and not one that gzip checks.
      compression: 'none',
    });
    this.#artifactBytes = bytes.length;
    const form = new FormData();
    form.append('artifact', new Blob([Uint8Array.from(bytes)]), `${name}.mender`);
    await testbed.admin.call('upload-artifact', { form });
  }
}

/** The client, or a planned fault, may have ended the deployment in the meantime. */
async function unlessEnded(request: Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    if (!(error instanceof Error && error.name === 'AdminRefusal')) throw error;
  });
}
