/**
 * Kills a loaded server with SIGKILL at random points, repeatedly on the same data folder, and
 * checks that every acknowledged write is still present.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../fixtures/base/clock.ts';
import type { Random } from '../../../fixtures/base/random.ts';
import type { Output } from '../../output/output.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import {
  authenticate,
  call,
  callControl,
  downloadStatus,
  ServedFolder,
  upload,
} from './served-folder.ts';

/** Options of a kills run. */
interface KillsOptions {
  readonly output: Output;
  readonly random: Random;
  readonly kills: number;
}

/**
 * Number of acknowledged writes after which the server is killed at the latest, and the longest
 * delay between the last of them and the kill, in milliseconds.
 */
const WRITES_MAX = 60;
const AFTERWARDS_MAX_MS = 30;
/** Latest time of a kill before the server is ready. */
const START_MAX_MS = 1500;
/** One kill in this many comes before the server is ready. */
const EARLY_ONE_IN = 8;
/** Number of tenants that are kept; the server limits how many can exist at a time. */
const TENANTS_KEPT_MAX = 20;

/** An acknowledged write, with the query that shows if it still exists. */
interface AcknowledgedWrite {
  readonly name: string;
  holds(server: ServerReady): Promise<boolean>;
}

/** Runs the kills; returns a sentence for each lost write and each failed start. */
export async function killsSoak({ output, random, kills }: KillsOptions): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetbed-soak-'));
  const data = join(folder, 'data');
  const problems: string[] = [];
  const acknowledgedWrites: AcknowledgedWrite[] = [];
  let recent: AcknowledgedWrite[] = [];
  try {
    for (let round = 1; round <= kills; round += 1) {
      if (random.integer(1, EARLY_ONE_IN) === 1) {
        await killEarly(data, random);
        continue;
      }
      const server = new ServedFolder(data);
      const ready = await server.ready;
      if (!ready) {
        problems.push(`start ${round} failed: ${(await server.ended).stderr.trim()}`);
        break;
      }
      problems.push(...(await lostOf(ready, recent)));
      const { writes, unexpectedResponses } = await loadedUntilKilled(server, ready, {
        round,
        random,
      });
      problems.push(...unexpectedResponses);
      recent = writes;
      acknowledgedWrites.push(...recent);
      if (round % 20 === 0) output.progress(`${round} kills, ${acknowledgedWrites.length} writes`);
    }
    problems.push(...(await lostAtTheEnd(data, acknowledgedWrites)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  output.line(
    `kills: ${kills}, acknowledged writes: ${acknowledgedWrites.length}, lost or failed: ${problems.length}`,
  );
  for (const [kind, count] of countByKind(acknowledgedWrites)) output.line(`  ${kind}: ${count}`);
  return problems;
}

async function killEarly(data: string, random: Random): Promise<void> {
  const server = new ServedFolder(data);
  await Promise.race([server.ready, systemClock.sleep(random.integer(0, START_MAX_MS))]);
  await server.end('SIGKILL');
}

/** Checks everything once more, after a last start that ends cleanly. */
async function lostAtTheEnd(data: string, writes: readonly AcknowledgedWrite[]): Promise<string[]> {
  const server = new ServedFolder(data);
  const ready = await server.ready;
  if (!ready) return [`the last start failed: ${(await server.ended).stderr.trim()}`];
  const losses = await lostOf(ready, writes);
  const { code } = await server.end();
  return code === 0 ? losses : [...losses, `the last server ended with exit code ${code}`];
}

async function lostOf(
  server: ServerReady,
  writes: readonly AcknowledgedWrite[],
): Promise<string[]> {
  const losses: string[] = [];
  for (const { name, holds } of writes) {
    if (!(await holds(server))) losses.push(`lost: ${name}`);
  }
  return losses;
}

function countByKind(writes: readonly AcknowledgedWrite[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name } of writes) {
    const kind = name.split(' ')[0] ?? '';
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** Performs writes of all kinds concurrently until the server is killed. */
async function loadedUntilKilled(
  served: ServedFolder,
  server: ServerReady,
  { round, random }: { round: number; random: Random },
): Promise<{ writes: AcknowledgedWrite[]; unexpectedResponses: string[] }> {
  const writes: AcknowledgedWrite[] = [];
  const unexpectedResponses: string[] = [];
  let isKilled = false;
  const keepsTenant = round <= TENANTS_KEPT_MAX;
  const writesMax = random.integer(1, WRITES_MAX);
  let enough = (): void => undefined;
  const isEnough = new Promise<void>((resolve) => {
    enough = resolve;
  });
  const note = (write: AcknowledgedWrite): void => {
    if (writes.push(write) >= writesMax) enough();
  };
  const load = new WriteLoad(server, { name: `r${round}`, keepsTenant, note });
  const lanes = load.lanes().map(async (lane) => {
    try {
      for (let at = 0; !isKilled && (await lane(at)); at += 1);
    } catch (error) {
      if (!isKilled) unexpectedResponses.push(`round ${round}: ${String(error)}`);
    }
  });
  // When all lanes end earlier, each of them has met an unexpected response.
  await Promise.race([isEnough, Promise.all(lanes)]);
  await systemClock.sleep(random.integer(0, AFTERWARDS_MAX_MS));
  isKilled = true;
  await served.end('SIGKILL');
  await Promise.all(lanes);
  return { writes, unexpectedResponses };
}

const statuses = ['downloading', 'installing', 'success'] as const;

class WriteLoad {
  readonly #server: ServerReady;
  readonly #name: string;
  readonly #keepsTenant: boolean;
  readonly #record: (write: AcknowledgedWrite) => void;

  constructor(
    server: ServerReady,
    options: { name: string; keepsTenant: boolean; note: (write: AcknowledgedWrite) => void },
  ) {
    this.#server = server;
    this.#name = options.name;
    this.#keepsTenant = options.keepsTenant;
    this.#record = options.note;
  }

  /** Returns the lanes. A lane performs one write per call, and returns false when it is done. */
  lanes(): ((at: number) => Promise<boolean>)[] {
    return [
      (at) => this.#newDevice(at),
      (at) => this.#inventory(at),
      (at) => this.#configuration(at),
      (at) => this.#update(at),
      (at) => this.#tenant(at),
    ];
  }

  async #newDevice(at: number): Promise<boolean> {
    const { id, token } = await authenticate(this.#server, `${this.#name}-${at}`);
    this.#record({
      name: `acceptance of device ${id}`,
      holds: async (server) => (await call(server, 'get-configuration', { token })).status === 200,
    });
    return true;
  }

  async #inventory(at: number): Promise<boolean> {
    const { id, token } = await this.#device('inventory');
    const value = `${this.#name}-${at}`;
    const json = [{ name: `told-${at}`, value }];
    expectStatus(await call(this.#server, 'patch-attributes', { token, json }), 200);
    this.#record({
      name: `attribute ${at} of ${id}`,
      holds: async (server) => {
        const { text } = await call(server, 'get-inventory', { parameters: { id } });
        return text.includes(`"told-${at}"`) && text.includes(value);
      },
    });
    return true;
  }

  async #configuration(at: number): Promise<boolean> {
    const { id } = await authenticate(this.#server, `${this.#name}-configured-${at}`);
    const json = { value: `${at}` };
    expectStatus(await call(this.#server, 'set-configuration', { parameters: { id }, json }), 204);
    this.#record({
      name: `configuration of ${id}`,
      holds: async (server) => {
        const { text } = await call(server, 'show-configuration', { parameters: { id } });
        return (
          (JSON.parse(text) as { configured?: { value?: string } }).configured?.value === `${at}`
        );
      },
    });
    return true;
  }

  /**
   * Uploads an artifact, deploys it, and reports the progress of the device; notes each write with
   * the query that checks it.
   */
  async #update(at: number): Promise<boolean> {
    const name = `${this.#name}-release-${at}`;
    const uploaded = await upload(this.#server, name);
    expectStatus(uploaded, 201);
    const artifact = uploaded.location;
    this.#record({
      name: `upload ${name}`,
      holds: async (server) => (await downloadStatus(server, artifact)) === 200,
    });
    const device = await this.#device('update');
    const json = { name, artifact_name: name, devices: [device.id] };
    const response = await call(this.#server, 'create-deployment', { json });
    expectStatus(response, 201);
    const id = response.location;
    this.#record({ name: `deployment ${name}`, holds: (server) => isLogged(server, id) });
    const query = { device_type: 'board', artifact_name: 'old' };
    expectStatus(
      await call(this.#server, 'get-next-deployment', { token: device.token, query }),
      200,
    );
    for (const status of statuses) {
      const report = { token: device.token, parameters: { id }, json: { status } };
      expectStatus(await call(this.#server, 'put-deployment-status', report), 204);
      this.#record({
        name: `status ${status} of ${name}`,
        holds: (server) => hasReached(server, { id, device: device.id, status }),
      });
    }
    return true;
  }

  /**
   * Creates a tenant. The first tenant of a round is deleted again; a second one is kept if the
   * round keeps a tenant.
   */
  async #tenant(at: number): Promise<boolean> {
    if (at > 0 && !this.#keepsTenant) return false;
    const name = `${this.#name}-tenant-${at}`;
    const json = { name, adminEmail: `${name}@example.com` };
    const response = await callControl(this.#server, { method: 'POST', path: '/tenants', json });
    expectStatus(response, 201);
    const { id } = JSON.parse(response.text) as { id: string };
    let isDropped = false;
    this.#record({
      name: `tenant ${name}`,
      holds: async (server) => isDropped || (await tenantsOf(server)).includes(id),
    });
    if (at > 0) return false;
    isDropped = true;
    const path = `/tenants/${id}`;
    expectStatus(await callControl(this.#server, { method: 'DELETE', path }), 200);
    this.#record({
      name: `drop of ${name}`,
      holds: async (server) => !(await tenantsOf(server)).includes(id),
    });
    return true;
  }

  readonly #devices = new Map<string, Promise<{ readonly id: string; readonly token: string }>>();

  #device(lane: string) {
    const device = this.#devices.get(lane) ?? authenticate(this.#server, `${this.#name}-${lane}`);
    this.#devices.set(lane, device);
    return device;
  }
}

async function tenantsOf(server: ServerReady): Promise<string> {
  return (await callControl(server, { method: 'GET', path: '/tenants' })).text;
}

/** Checks that the deployment exists, and that the audit log names its creator. */
async function isLogged(server: ServerReady, id: string): Promise<boolean> {
  const response = await call(server, 'get-deployment', { parameters: { id } });
  const query = { object_type: 'deployment', object_id: id };
  const log = await call(server, 'list-audit-logs', { query });
  return response.status === 200 && log.status === 200 && log.text.includes(id);
}

const order = ['pending', ...statuses];

/**
 * Checks the status of the device deployment. A report that was in flight at the kill may have been
 * stored without a response.
 */
async function hasReached(
  server: ServerReady,
  { id, device, status }: { id: string; device: string; status: string },
): Promise<boolean> {
  const { text } = await call(server, 'list-deployment-devices', { parameters: { id } });
  const parts = JSON.parse(text) as { id: string; status: string }[];
  const currentStatus = parts.find((part) => part.id === device)?.status ?? '';
  return order.indexOf(currentStatus) >= order.indexOf(status);
}

function expectStatus({ status, text }: { status: number; text: string }, wanted: number): void {
  if (status !== wanted) throw new Error(`${status} in place of ${wanted}: ${text}`);
}
