/**
 * Measures how long it takes to copy a tenant with many known devices, to restore all of it, and to
 * restore it for one device, on the in-memory engine and on the file engine. Part of `npm run
 * bench`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { openStore, type Store } from '../../../server/store/store.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { createOutput } from '../../output/output.ts';
import { median } from './row.ts';

const DEVICES = 1000;
const ATTRIBUTES = 10;
const ROUNDS = 20;
const TARGET_MS = 50;

const output = createOutput(false);
const folder = mkdtempSync(join(tmpdir(), 'fleetbed-'));
try {
  const inMemory = await worst('in memory', await openStore());
  const inFile = await worst('in a folder', await openStore({ folder: join(folder, 'world') }));
  process.exitCode = inMemory < TARGET_MS && inFile < TARGET_MS ? exitCodes.pass : exitCodes.failed;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the greater of the median times of both resets, in milliseconds. */
async function worst(engine: string, store: Store): Promise<number> {
  store.atomically(() => fillStore(store));
  const timesMs = { snapshot: [] as number[], all: [] as number[], device: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    let snapshot = await store.snapshot();
    snapshot.discard();
    timesMs.snapshot.push(await timeRun(async () => (snapshot = await store.snapshot())));
    changeStore(store);
    timesMs.device.push(await timeRun(() => store.resetDevice(`device-${round}`, snapshot, 1)));
    timesMs.all.push(await timeRun(() => store.restore(snapshot)));
    snapshot.discard();
  }
  store.close();
  const { snapshot, all, device } = timesMs;
  output.line(
    `${engine}, ${DEVICES} devices: snapshot ${figureText(snapshot)}, reset of all ${figureText(all)}, reset of one device ${figureText(device)}`,
  );
  return Math.max(median(all), median(device));
}

function fillStore(store: Store): void {
  const ids = Array.from({ length: DEVICES }, (_, at) => `device-${at}`);
  for (const id of ids) {
    const set = { id: `set of ${id}`, publicKeyPem: `key of ${id} `.repeat(8), nowMs: 1 };
    const device = { id, identity: JSON.stringify({ mac: id }) };
    store.devices.recordFirstContact(device, { ...set, status: 'accepted' });
    store.inventory.replace(id, attributes(id, 1));
    store.connections.record(id, 'disconnected', 1);
  }
  store.deployments.create({
    id: 'deployment',
    type: 'software',
    name: 'spring',
    artifactName: 'release',
    deviceIds: ids,
    deviceDigest: 'all',
    forceInstallation: false,
    nowMs: 1,
  });
}

function attributes(value: string, updatedMs: number) {
  return Array.from({ length: ATTRIBUTES }, (_, at) => ({
    name: `attribute-${at}`,
    value,
    updatedMs,
  }));
}

/** Simulates the leftovers of a test by changing something of every kind. */
function changeStore(store: Store): void {
  store.atomically(() => {
    for (let at = 0; at < DEVICES; at += 4) {
      store.inventory.replace(`device-${at}`, attributes('changed', 2));
      store.devices.remove(`device-${at + 1}`);
    }
  });
}

async function timeRun(run: () => unknown): Promise<number> {
  const startedMs = systemClock.monotonicMs();
  await run();
  return systemClock.monotonicMs() - startedMs;
}

function figureText(values: readonly number[]): string {
  return `${median(values).toFixed(1)} ms (at most ${Math.max(...values).toFixed(1)})`;
}
