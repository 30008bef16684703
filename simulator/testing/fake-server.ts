/**
 * A fake server for tests of the whole simulator. It admits devices once they are accepted, offers
 * one deployment, and records and lists statuses. It has no other rules.
 */
import { softwareArtifact } from './artifacts.ts';
import {
  emptyConfiguration,
  type Responses,
  type StubRequest,
  type StubResponse,
  StubServer,
} from './stub-server.ts';

interface ServerDevice {
  readonly id: string;
  readonly authSetId: string;
  readonly identity_data: unknown;
  readonly pubkey: string;
  accepted: boolean;
  /** Status in the deployment; undefined while the deployment is pending. */
  status: string | undefined;
}

const when = '2026-01-31T12:00:00Z';
const noContent: StubResponse = { status: 204 };
/** Name of the artifact that the server deploys. */
export const release = 'release-2';

/** The fake server with its records. */
export class FakeServer {
  readonly devices = new Map<string, ServerDevice>();
  deployedTo: ReadonlySet<string> | undefined;
  readonly server: StubServer;
  readonly #file: Buffer;

  private constructor(server: StubServer, file: Buffer) {
    this.server = server;
    this.#file = file;
  }

  /**
   * Starts a server.
   * @param changed responses that replace the server's own
   */
  static async start(changed: (small: FakeServer) => Responses = () => ({})): Promise<FakeServer> {
    const responses: Responses = {};
    const server = await StubServer.start(responses);
    const small = new FakeServer(server, await softwareArtifact(release));
    Object.assign(responses, small.#answers(), changed(small));
    return small;
  }

  /** Returns the device to which a token belongs. */
  deviceOf({ headers }: StubRequest): ServerDevice | undefined {
    const claims = headers.authorization?.split('.')[1] ?? '';
    const id = /"sub":"(.*)"/.exec(Buffer.from(claims, 'base64url').toString())?.[1];
    return [...this.devices.values()].find((device) => device.id === id);
  }

  /** Offers the deployment to a device that belongs to it and has not finished it. */
  next(request: StubRequest): StubResponse {
    const device = this.deviceOf(request);
    if (device === undefined) return { status: 401 };
    const finalStatuses = ['success', 'failure', 'aborted', 'already-installed'];
    if (!this.deployedTo?.has(device.id) || finalStatuses.includes(device.status ?? ''))
      return noContent;
    const { device_provides: provides } = request.json() as {
      device_provides: { artifact_name: string };
    };
    if (provides.artifact_name === release) {
      device.status = 'already-installed';
      return noContent;
    }
    const uri = `${this.server.baseUrl}/storage/artifacts/1`;
    const source = { uri, expire: when };
    const artifact = { artifact_name: release, source, device_types_compatible: ['board'] };
    return { status: 200, body: { id: 'deployment-1', artifact } };
  }

  #answers(): Responses {
    return {
      login: () => ({ status: 200, body: tokenFor('user') }),
      'post-auth-request': (request) => this.#letIn(request),
      'list-devices': ({ query }) => ({ status: 200, body: this.#listed(query.get('status')) }),
      'set-auth-set-status': ({ parameters }) => {
        for (const device of this.devices.values()) {
          if (device.id === parameters.id) device.accepted = true;
        }
        return noContent;
      },
      'create-deployment': (request) => {
        this.deployedTo = new Set((request.json() as { devices: string[] }).devices);
        return { status: 201, headers: { location: './deployment-1' } };
      },
      'list-deployment-devices': () => ({ status: 200, body: this.#deviceDeployments() }),
      'get-deployment-statistics': () => ({ status: 200, body: this.#statistics() }),
      'abort-device-deployments': ({ parameters }) => {
        for (const device of this.devices.values()) {
          if (device.id === parameters.id) device.status = 'aborted';
        }
        return noContent;
      },
      'post-next-deployment-v2': (request) => this.next(request),
      'put-deployment-status': (request) => this.#report(request),
      'put-deployment-log': () => noContent,
      'download-artifact': () => ({ status: 200, body: this.#file }),
      'get-configuration': emptyConfiguration,
      'put-configuration': () => noContent,
      'post-alerts': () => noContent,
      'post-monitor-configuration': () => noContent,
      'put-attributes': () => ({ status: 200 }),
    };
  }

  #letIn(request: StubRequest): StubResponse {
    const { id_data, pubkey } = request.json() as { id_data: string; pubkey: string };
    const number = this.devices.size + 1;
    const device = this.devices.get(pubkey) ?? {
      id: `device-${number}`,
      authSetId: `set-${number}`,
      identity_data: JSON.parse(id_data),
      pubkey,
      accepted: false,
      status: undefined,
    };
    this.devices.set(pubkey, device);
    return device.accepted ? { status: 200, body: tokenFor(device.id) } : { status: 401 };
  }

  #listed(status: string | null) {
    return [...this.devices.values()]
      .filter(({ accepted }) => (status === 'accepted') === accepted)
      .map(({ id, authSetId, identity_data, pubkey, accepted }) => {
        const deviceStatus = accepted ? 'accepted' : 'pending';
        const set = { id: authSetId, identity_data, pubkey, status: deviceStatus, ts: when };
        const times = { created_ts: when, updated_ts: when };
        return { id, identity_data, status: deviceStatus, ...times, auth_sets: [set] };
      });
  }

  #deviceDeployments() {
    return [...this.devices.values()]
      .filter(({ id }) => this.deployedTo?.has(id))
      .map(({ id, status = 'pending' }) => ({ id, status, created: when, log: false }));
  }

  #statistics() {
    const counts: Record<string, number> = { total_size: 1000 };
    for (const { status } of this.#deviceDeployments()) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  #report(request: StubRequest): StubResponse {
    const device = this.deviceOf(request);
    if (device === undefined) return { status: 401 };
    if (device.status === 'aborted') return { status: 409 };
    device.status = (request.json() as { status: string }).status;
    return noContent;
  }
}

function tokenFor(subject: string): string {
  const claims = Buffer.from(JSON.stringify({ sub: subject })).toString('base64url');
  return `e30.${claims}.c2ln`;
}
