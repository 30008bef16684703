/**
 * Events at a fixed average rate that does not depend on response times, in addition to the
 * devices' cycles. The gaps between events are exponentially distributed, as between independent
 * events.
 */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import type { DeviceClient } from '../api-client/device-client.ts';
import { type ClientSession, newSession } from '../api-client/session.ts';
import type { SimulatedDevice } from '../device/device.ts';
import { deviceKey } from '../identity/device-key.ts';
import { idDataOf, identityData } from '../identity/identity.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { ClientError, FleetStopped, PowerLoss } from '../network/errors.ts';
import type { Arrival } from '../plan/load-fields.ts';

export interface ArrivalsOptions {
  readonly arrivals: readonly Arrival[];
  readonly devices: readonly SimulatedDevice[];
  readonly client: DeviceClient;
  readonly clock: Clock;
  /** Random generator of the fleet, made from its seed. */
  readonly random: Random;
  readonly metrics: RunMetrics;
}

/**
 * Maximum number of events that await a response at the same time; further events are counted as
 * errors and not sent.
 */
const IN_FLIGHT_MAX = 10_000;
const SECOND_MS = 1000;
const UNKNOWN_DEVICE_PREFIX = 'FB-NEW';

/** The events of one run. `stop` ends them. */
export class Arrivals {
  readonly #options: ArrivalsOptions;
  readonly #timers = new Map<Arrival, Timer>();
  #inFlight = 0;
  #unknownDevices = 0;

  constructor(options: ArrivalsOptions) {
    this.#options = options;
  }

  start(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const arrival of this.#options.arrivals) {
      const chance = this.#options.random.stream(`arrivals/${arrival.event}`);
      this.#plan(arrival, chance, nowMs);
    }
  }

  stop(): void {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  /**
   * Schedules the next event relative to the time when the previous one was due, not when it was
   * sent.
   */
  #plan(arrival: Arrival, chance: Random, lastDueMs: number): void {
    const { clock } = this.#options;
    const gapMs = (-Math.log(1 - chance.fraction()) / arrival.perSecond) * SECOND_MS;
    const dueMs = lastDueMs + gapMs;
    const timer = clock.after(dueMs - clock.monotonicMs(), () => {
      this.#plan(arrival, chance, dueMs);
      void this.#make(arrival.event, chance, dueMs);
    });
    this.#timers.set(arrival, timer);
  }

  async #make(event: Arrival['event'], chance: Random, dueMs: number): Promise<void> {
    const { metrics } = this.#options;
    const operation = `arrival-${event}`;
    if (this.#inFlight >= IN_FLIGHT_MAX) {
      metrics.countError({ operation, label: 'arrivals/too-many-in-flight' });
      return;
    }
    this.#inFlight++;
    try {
      const isMade = await makers[event](this, chance, dueMs);
      if (!isMade) metrics.countError({ operation, label: 'arrivals/no-device-can' });
    } catch (error) {
      if (error instanceof FleetStopped || error instanceof PowerLoss) return;
      if (!(error instanceof ClientError)) throw error;
      if (!isExpected(event, error)) metrics.countError(error);
    } finally {
      this.#inFlight--;
    }
  }

  /** Returns a random device that is on and has a token, and for which `isFit` is true. */
  anyDevice(
    chance: Random,
    isFit: (device: SimulatedDevice) => boolean = () => true,
  ): SimulatedDevice | undefined {
    const { devices } = this.#options;
    const from = chance.integer(0, devices.length - 1);
    for (let step = 0; step < devices.length; step++) {
      const device = devices[(from + step) % devices.length];
      const isThere = device?.session?.token !== undefined && !device.off;
      if (device !== undefined && isThere && isFit(device)) return device;
    }
    return undefined;
  }

  /** Returns the session of a new device that contacts the server once. */
  unknownDevice(dueMs: number): ClientSession {
    const random = this.#options.random.stream('unknown-devices');
    const index = this.#unknownDevices++;
    const identity = identityData(random, index, UNKNOWN_DEVICE_PREFIX);
    const key = deviceKey(random, index, 'ed25519');
    const session = newSession(`unknown device ${index}`, idDataOf(identity), key);
    session.dueMs = dueMs;
    return session;
  }

  get options(): ArrivalsOptions {
    return this.#options;
  }
}

/**
 * Sends one event. Returns false when no device is able to send it.
 * @throws ClientError, FleetStopped
 */
type EventSender = (arrivals: Arrivals, chance: Random, dueMs: number) => Promise<boolean>;

const makers: Readonly<Record<Arrival['event'], EventSender>> = {
  alerts: async (arrivals, chance, dueMs) => {
    const session = ownSession(arrivals.anyDevice(chance), dueMs);
    if (session === undefined) return false;
    const { client, clock } = arrivals.options;
    const timestamp = new Date(clock.now()).toISOString();
    const subject = { name: 'telemetry.service', type: 'systemd.unit', status: 'not-running' };
    const level = 'CRITICAL' as const;
    await client.postAlerts(session, [{ name: 'Telemetry service', level, subject, timestamp }]);
    return true;
  },
  logs: async (arrivals, chance, dueMs) => {
    const device = arrivals.anyDevice(chance, ({ deployments }) => deployments.length > 0);
    const session = ownSession(device, dueMs);
    const deploymentId = device?.deployments.at(-1)?.deploymentId;
    if (session === undefined || deploymentId === undefined) return false;
    const { client, clock } = arrivals.options;
    const timestamp = new Date(clock.now()).toISOString();
    const messages = [{ timestamp, level: 'info', message: 'log on request' }];
    await client.uploadLog(session, deploymentId, { messages });
    return true;
  },
  'first-contacts': async (arrivals, _, dueMs) => {
    await arrivals.options.client.authenticate(arrivals.unknownDevice(dueMs));
    return true;
  },
};

/**
 * Returns a copy of the device's session, so that the event does not make the device's own cycle
 * count as late.
 */
function ownSession(device: SimulatedDevice | undefined, dueMs: number): ClientSession | undefined {
  return device?.session && { ...device.session, dueMs };
}

/**
 * Returns true for the 401 to the first contact of an unknown device, which is the expected
 * response.
 */
function isExpected(event: Arrival['event'], error: ClientError): boolean {
  return event === 'first-contacts' && error.label === 'status/401';
}
