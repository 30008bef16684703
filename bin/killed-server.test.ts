import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../fixtures/random.ts';
import {
  artifactBytes,
  fetchFile,
  linkTo,
  uploadArtifact,
} from '../server/testing/test-artifacts.ts';
import { board, createDeployment, doors, report } from '../server/testing/test-deployments.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  knownDevices,
} from '../server/testing/test-device.ts';
import { attributeOf } from '../server/testing/test-inventory.ts';
import { callsTo, type Reply, type TestServer } from '../server/testing/test-server.ts';
import { startServe } from './testing/built-command.ts';

const KILLS = 5;
const random = seededRandom('kill -9');
const folder = mkdtempSync(join(tmpdir(), 'fleetbed-test-'));
const data = join(folder, 'data');

/** What the server said it had done, with the question that shows whether it still has. */
interface Acknowledged {
  readonly what: string;
  holds(server: TestServer): Promise<boolean>;
}

interface Served {
  readonly server: TestServer;
  readonly running: Awaited<ReturnType<typeof startServe>>['running'];
}

let last: Served['running'] | undefined;

afterAll(async () => {
  await last?.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function serve(): Promise<Served> {
  const { running, ready } = await startServe(['--data', data]);
  // What can be asked of a server of another process; the rest is not used here.
  last = running;
  const { event: _, version: __, ...facts } = ready;
  return { running, server: { ...facts, ...callsTo(ready.baseUrl) } as TestServer };
}

/** Writes of several kinds at the same time until the server is gone. */
class Writers {
  readonly acknowledged: Acknowledged[] = [];
  /** What went wrong other than by the death of the server. */
  readonly surprises: string[] = [];
  readonly #served: Served;
  readonly #round: number;
  readonly #killAfter: number;
  #isKilled = false;

  constructor(served: Served, { round, killAfter }: { round: number; killAfter: number }) {
    this.#served = served;
    this.#round = round;
    this.#killAfter = killAfter;
  }

  async run(): Promise<void> {
    const { server } = this.#served;
    const device = await acceptedDevice(server, `writer-${this.#round}`);
    await Promise.all([
      this.#repeat((at) => this.#tell(device, at)),
      this.#repeat((at) => this.#accept(at)),
      this.#repeat((at) => this.#upload(device, at)),
      this.#repeat((at) => this.#update(device, at)),
    ]);
    await this.#served.running.ended;
  }

  async #repeat(write: (at: number) => Promise<void>): Promise<void> {
    for (let at = 0; !this.#isKilled; at += 1) {
      try {
        await write(at);
      } catch (fault) {
        if (!this.#isKilled) this.surprises.push(String(fault));
        return;
      }
    }
  }

  /** Kills in the very moment in which the wanted answer has arrived; others are on their way. */
  #acknowledge(reply: Pick<Reply, 'status' | 'text'>, write: Acknowledged): void {
    if (reply.status >= 400) throw new Error(`${write.what}: ${reply.status} ${reply.text}`);
    this.acknowledged.push(write);
    if (this.acknowledged.length !== this.#killAfter) return;
    this.#isKilled = true;
    this.#served.running.child.kill('SIGKILL');
  }

  async #tell(device: AcceptedDevice, at: number): Promise<void> {
    const json = [{ name: `told-${at}`, value: at }];
    const told = await this.#served.server.call('patch-attributes', { token: device.token, json });
    this.#acknowledge(told, {
      what: `attribute ${at} of ${device.id}`,
      holds: async (server) =>
        (await attributeOf(server, device.id, ['inventory', `told-${at}`])) === at,
    });
  }

  async #accept(at: number): Promise<void> {
    const { id, token } = await acceptedDevice(this.#served.server, `${this.#round}-${at}`);
    const done = { status: 204, text: '' };
    this.#acknowledge(done, {
      what: `acceptance of ${id}`,
      holds: async (server) => {
        const known = await knownDevices(server, { id, status: 'accepted' });
        const told = await server.call('patch-attributes', { token, json: [] });
        return known.length === 1 && told.status === 200;
      },
    });
  }

  async #upload({ token }: AcceptedDevice, at: number): Promise<void> {
    const name = `artifact-${this.#round}-${at}`;
    const content = this.#contentOf(name);
    const bytes = await artifactBytes({ name, files: [{ name: 'app.bin', content }] });
    const reply = await uploadArtifact(this.#served.server, bytes);
    const id = reply.headers.get('location')?.split('/').at(-1) ?? '';
    this.#acknowledge(reply, {
      what: `upload of ${name}`,
      holds: async (server) => {
        const { bytes: kept } = await fetchFile((await linkTo(server, token, id)).uri);
        return sha256(kept) === sha256(bytes);
      },
    });
  }

  #contentOf(name: string): Buffer {
    return random.stream(name).bytes(200_000);
  }

  /** A deployment of a release of its own, reported step by step. */
  async #update(device: AcceptedDevice, at: number): Promise<void> {
    const { server } = this.#served;
    const name = `release-${this.#round}-${at}`;
    const uploaded = await uploadArtifact(server, await artifactBytes({ name }));
    if (uploaded.status !== 201) throw new Error(uploaded.text);
    const made = await createDeployment(server, [device], { name, artifact_name: name });
    const id = made.headers.get('location')?.split('/').at(-1) ?? '';
    this.#acknowledge(made, {
      what: `deployment ${name}`,
      holds: hasReached(device, id, 'pending'),
    });
    const polled = await doors['GET v1'](server, device.token, board);
    if (polled.status !== 200) throw new Error(`no instructions: ${polled.status} ${polled.text}`);
    for (const status of ['downloading', 'installing', 'success'] as const) {
      const reported = await report(server, device, { id, status });
      const holds = hasReached(device, id, status);
      this.#acknowledge(reported, { what: `${name} is ${status}`, holds });
    }
  }
}

const order = ['pending', 'downloading', 'installing', 'success'];

/** A report on its way when the server died may have been kept without an answer. */
function hasReached({ id }: AcceptedDevice, deploymentId: string, status: string) {
  return async (server: TestServer): Promise<boolean> => {
    const call = { token: server.adminToken, parameters: { id: deploymentId } };
    const parts = await server.call('list-deployment-devices', call);
    const part = parts.json<{ id: string; status: string }[]>().find((one) => one.id === id);
    return order.indexOf(part?.status ?? '') >= order.indexOf(status);
  };
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe('a server that is killed while clients write', () => {
  const lost: string[] = [];
  const surprises: string[] = [];
  let acknowledged: Acknowledged[] = [];

  beforeAll(async () => {
    for (let round = 1; round <= KILLS; round += 1) {
      const served = await serve();
      lost.push(...(await missingOf(served.server, acknowledged)));
      const writers = new Writers(served, { round, killAfter: random.integer(5, 40) });
      await writers.run();
      surprises.push(...writers.surprises);
      acknowledged = [...acknowledged, ...writers.acknowledged];
    }
    const { running, server } = await serve();
    lost.push(...(await missingOf(server, acknowledged)));
    await running.end();
  }, 120_000);

  it(`starts again each of ${KILLS} times, with every write that it had acknowledged`, () => {
    expect(lost).toEqual([]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(KILLS * 5);
  });

  it('has answered every request before as it should', () => {
    expect(surprises).toEqual([]);
  });

  it('had acknowledged writes of every kind', () => {
    for (const kind of ['attribute', 'acceptance', 'upload', 'deployment', 'is success']) {
      expect(acknowledged.some(({ what }) => what.includes(kind))).toBe(true);
    }
  });
});

async function missingOf(server: TestServer, writes: readonly Acknowledged[]): Promise<string[]> {
  const missing: string[] = [];
  for (const { what, holds } of writes) {
    if (!(await holds(server))) missing.push(what);
  }
  return missing;
}
