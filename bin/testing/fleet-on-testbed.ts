/**
 * Runs a fleet against a reference server in this process, and reads what the server recorded about
 * the fleet.
 */
import { type Clock, systemClock } from '../../fixtures/base/clock.ts';
import { writeArtifact } from '../../fixtures/formats/mender-artifact-writer.ts';
import { startTestbed, type Testbed, type TestbedOptions } from '../../server/testbed.ts';
import {
  type FleetEnvironment,
  type FleetEvent,
  type FleetPlan,
  type FleetResult,
  simulateFleet,
} from '../../simulator/engine/simulate-fleet.ts';
import { planDefaults } from '../../simulator/plan/plan.ts';

export const release = 'release-2';
const ARTIFACT_BYTES = 60_000;

/** Overrides of the tests' plan. */
export type PlanChange = Partial<Omit<FleetPlan, 'behaviours'>> & {
  /** Behaviours of the fleet; each has one device. */
  readonly behaviours: readonly string[];
  /** Advances the clock; absent when the clock runs by itself. */
  readonly advanceTime?: FleetEnvironment['advanceTime'];
  readonly judge?: FleetEnvironment['judge'];
  /** Called after each event; the run ends when it returns true. */
  readonly endsWhen?: (events: readonly FleetEvent[]) => boolean;
};

/** One request of a device, as in the server's journal. */
export interface JournaledRequest {
  readonly operation: string;
  readonly status: number;
  /** Time of the request: ISO 8601. */
  readonly at: string;
  readonly requestBody?: unknown;
}

/** A server, and the fleets that run against it. */
export class FleetOnTestbed {
  readonly testbed: Testbed;
  readonly #clock: Clock;
  readonly events: FleetEvent[] = [];
  readonly #ids = new Map<string, string>();
  readonly #indices = new Map<string, number>();
  #deploymentId = '';

  private constructor(testbed: Testbed, clock: Clock) {
    this.testbed = testbed;
    this.#clock = clock;
  }

  /** Starts a server with the artifact `release`. */
  static async start(options: TestbedOptions = {}): Promise<FleetOnTestbed> {
    const testbed = await startTestbed({ seed: 'behaviours', ...options });
    const artifact = await writeArtifact({
      name: release,
      deviceTypes: ['fleetbed-board'],
      payloadType: 'single-file',
      files: [{ name: 'app.bin', content: Buffer.alloc(ARTIFACT_BYTES, 7) }],
      modifiedMs: 0,
    });
    const form = new FormData();
    form.append('artifact', new Blob([Uint8Array.from(artifact)]), `${release}.mender`);
    await testbed.admin.call('upload-artifact', { form });
    return new FleetOnTestbed(testbed, options.clock ?? systemClock);
  }

  /** Runs one device of each behaviour, with a deployment by default. */
  async run({
    behaviours,
    advanceTime,
    judge,
    endsWhen,
    ...change
  }: PlanChange): Promise<FleetResult> {
    const runEnd = new AbortController();
    const { baseUrl, adminEmail: email, adminPassword: password } = this.testbed;
    const result = await simulateFleet(
      {
        ...planDefaults,
        baseUrl,
        devices: behaviours.length,
        keys: { rsa: 0, ecdsa: 0, ed25519: 1 },
        seed: 'behaviours',
        pollIntervalMs: 150,
        inventoryIntervalMs: 60_000,
        rampMs: 0,
        behaviours: behaviours.map((name) => ({ name, weight: 1 })),
        backOff: { minMs: 50, maxMs: 500 },
        headerPrefix: 'X-SVC',
        acceptWith: { email, password },
        deploy: release,
        requestTimeLimitMs: 10_000,
        drainMs: 0,
        ...change,
      },
      {
        clock: this.#clock,
        signal: runEnd.signal,
        ...(advanceTime && { advanceTime }),
        judge,
        onEvent: (event) => {
          this.events.push(event);
          if (endsWhen?.(this.events)) runEnd.abort();
        },
      },
    );
    for (const { behaviour, index, deviceId = '' } of result.devices) {
      this.#ids.set(behaviour, deviceId);
      this.#indices.set(behaviour, index);
    }
    this.#deploymentId = result.deploymentId ?? '';
    return result;
  }

  /** Returns the server's ID of the device with this behaviour. */
  idOf(behaviour: string): string {
    return this.#ids.get(behaviour) ?? '';
  }

  /** Returns the requests of the device in order, optionally of one operation only. */
  requestsOf(behaviour: string, operation?: string): JournaledRequest[] {
    const entries = this.testbed.journal.list({
      kind: 'exchange',
      device: this.idOf(behaviour),
      operation,
    });
    return entries as unknown as JournaledRequest[];
  }

  /**
   * Returns the responses that the device recorded, including those to requests that the server
   * could not attribute to a device.
   */
  responsesTo(behaviour: string): JournaledRequest[] {
    const index = this.#indices.get(behaviour);
    return this.events.flatMap((event) => {
      if (event.kind !== 'exchange' || event.device !== index) return [];
      const { operation, status = 0, atMs } = event;
      return [{ operation, status, at: new Date(atMs).toISOString() }];
    });
  }

  /** Returns the statuses that the device reported, with the responses. */
  reportsOf(behaviour: string): string[] {
    return this.requestsOf(behaviour, 'put-deployment-status').map(({ status, requestBody }) => {
      const text = typeof requestBody === 'string' ? requestBody : JSON.stringify(requestBody);
      return `${/"status":\s*"([\w-]+)"/.exec(text.replaceAll('\\', ''))?.[1]} ${status}`;
    });
  }

  /** Returns the status of each device deployment as the server recorded it, by behaviour. */
  async recordedStatuses(): Promise<Record<string, string>> {
    const { body } = await this.testbed.admin.call('list-deployment-devices', {
      parameters: { id: this.#deploymentId },
      query: { per_page: 500 },
    });
    const byId = new Map(body.map(({ id, status }) => [id, status]));
    const rows = [...this.#ids].map(([name, id]) => [name, byId.get(id) ?? 'not listed']);
    return Object.fromEntries(rows);
  }

  /** Returns the log that the device has uploaded. */
  async logOf(behaviour: string): Promise<string> {
    const { body } = await this.testbed.admin.call('get-deployment-log', {
      parameters: { id: this.#deploymentId, device_id: this.idOf(behaviour) },
    });
    return body;
  }

  /** Returns the artifact name in the device's inventory. */
  async inventoryArtifact(behaviour: string): Promise<unknown> {
    const { body } = await this.testbed.admin.call('get-inventory', {
      parameters: { id: this.idOf(behaviour) },
    });
    const { attributes = [] } = body as {
      attributes?: readonly { name: string; value: unknown }[];
    };
    return attributes.find(({ name }) => name === 'artifact_name')?.value;
  }
}
