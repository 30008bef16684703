/** Fixtures for unit tests: a client, a session, and an environment whose waits take no time. */
import { ManualClock } from '../../fixtures/base/clock.ts';
import { freshRsaKey, seededRandom } from '../../fixtures/base/random.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import { DeviceClient } from '../api-client/device-client.ts';
import type { RunDeployment } from '../api-client/management.ts';
import { type ClientSession, newSession } from '../api-client/session.ts';
import type { Behaviour } from '../behaviours/behaviour.ts';
import { type DeploymentRecord, newDevice, type SimulatedDevice } from '../device/device.ts';
import type { DeviceEnvironment, PartialDownloads } from '../device/environment.ts';
import type { EventFact } from '../device/events.ts';
import { type DeviceKey, deviceKey, heldKey } from '../identity/device-key.ts';
import { idDataOf, identityData } from '../identity/identity.ts';
import { RunMetrics } from '../metrics/run-metrics.ts';
import { Transport } from '../network/transport.ts';
import type { Cohort } from '../plan/cohort.ts';
import { type Policy, policyOf } from '../plan/cohort.ts';

/** Start of the clock in tests: 2026-01-31T12:00:00Z. */
export const noonMs = Date.UTC(2026, 0, 31, 12);
/** A well-formed token with the subject `device-id-1`. */
export const token = `e30.${Buffer.from('{"sub":"device-id-1"}').toString('base64url')}.c2ln`;
const random = seededRandom('x');
const steady: Behaviour = {
  name: 'steady',
  description: 'A healthy device.',
  expectedServerBehaviour: 'Offers it each deployment once.',
  parameters: { installMs: 200, rebootMs: 300 },
  hooks: {},
};

/** Default policy of the devices in tests. */
export const policy: Policy = policyOf({
  pollIntervalMs: 1000,
  pollJitterShare: 0,
  pollSpread: 'even',
  download: 'full',
  inventoryIntervalMs: 60_000,
  connect: true,
});
const all: Cohort = {
  name: 'all',
  weight: 1,
  keys: { rsa: 0, ecdsa: 0, ed25519: 1 },
  behaviours: [{ name: 'steady', weight: 1 }],
  policy,
};

/** Settings of a client; the number of connections is 4 unless given. */
interface ClientFixtureOptions {
  readonly tenantToken?: string;
  readonly headerPrefix?: string;
  readonly connectionsMax?: number;
}

/** A client and its dependencies. The owner must close it. */
export class ClientFixture {
  readonly clock = new ManualClock(noonMs);
  readonly metrics = new RunMetrics(this.clock);
  readonly transport: Transport;
  readonly client: DeviceClient;

  constructor(baseUrl: string, options: ClientFixtureOptions = {}) {
    const { clock, metrics: observer } = this;
    const { connectionsMax = 4 } = options;
    const network = { baseUrl, clock, observer, requestTimeLimitMs: 5000, connectionsMax };
    this.transport = new Transport(network);
    const { headerPrefix = 'X-SVC', tenantToken } = options;
    this.client = new DeviceClient({ transport: this.transport, clock, headerPrefix, tenantToken });
  }

  close(): Promise<void> {
    return this.transport.close();
  }
}

/** Returns a session of device 0 of the seed `x` that has no token. */
export async function sessionOf(keyType: KeyType = 'ed25519'): Promise<ClientSession> {
  const key = await keyOf(keyType);
  return newSession('device 0', idDataOf(identityData(random, 0, 'FB')), key);
}

async function keyOf(keyType: KeyType): Promise<DeviceKey> {
  if (keyType === 'rsa') return heldKey(keyType, await freshRsaKey(2048));
  return deviceKey(random, 0, keyType);
}

/** Returns device 0 of the seed `x`, which has type `board` and the artifact `factory-image`. */
export function deviceOf(
  behaviour: Behaviour = steady,
  differs: Partial<Policy> = {},
): SimulatedDevice {
  const identity = identityData(random, 0, 'FB');
  return newDevice({
    index: 0,
    cohort: { ...all, policy: { ...policy, ...differs } },
    keyType: 'ed25519',
    behaviour,
    identity,
    idData: identity,
    deviceType: 'board',
    artifactName: 'factory-image',
  });
}

/** An environment in which waits take no time but are recorded. */
export class InstantEnvironment implements DeviceEnvironment {
  readonly client: DeviceClient;
  readonly transport: Transport;
  readonly clock: ManualClock;
  readonly random = random;
  readonly metrics: RunMetrics;
  /** Events so far, in order. */
  readonly facts: EventFact[] = [];
  readonly events = { emit: (fact: EventFact) => void this.facts.push(fact) };
  readonly sleepsMs: number[] = [];
  readonly settledDeployments: DeploymentRecord[] = [];
  readonly socketsLost: SimulatedDevice[] = [];
  /** Called at each wait. It may throw to end the run there. */
  onRest: (waitMs: number) => void = () => undefined;
  /** Called at each change that a device must remember. */
  onChange: (device: SimulatedDevice, deployment?: DeploymentRecord) => void = () => undefined;
  onAbort: () => Promise<boolean> = async () => false;
  plannedDeployment: RunDeployment | undefined;
  downloads: PartialDownloads | undefined;

  constructor(fixture: ClientFixture) {
    this.client = fixture.client;
    this.transport = fixture.transport;
    this.clock = fixture.clock;
    this.metrics = fixture.metrics;
  }

  async keyFor(_device: SimulatedDevice, generation = 0) {
    return deviceKey(random, 0, 'ed25519', generation);
  }

  recordChange(device: SimulatedDevice, deployment?: DeploymentRecord): void {
    this.onChange(device, deployment);
  }

  async sleep(waitMs: number): Promise<void> {
    this.sleepsMs.push(waitMs);
    this.onRest(waitMs);
    this.clock.advance(waitMs);
  }

  dropSocket(device: SimulatedDevice): void {
    this.socketsLost.push(device);
  }

  offForMs(): number {
    return 0;
  }

  untilNextPollMs(): number {
    return policy.pollIntervalMs;
  }

  runDeployment(): RunDeployment | undefined {
    return this.plannedDeployment;
  }

  recordSettled(_device: SimulatedDevice, deployment: DeploymentRecord): void {
    this.settledDeployments.push(deployment);
  }

  abortDevice(): Promise<boolean> {
    return this.onAbort();
  }
}
