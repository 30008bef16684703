/**
 * The WebSockets of a fleet: one for each device that has a token, reopened when it breaks. A
 * common timer checks all sockets, so that no socket needs its own.
 */
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import type { Random } from '../../fixtures/base/random.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { DeviceSocket, type DeviceSocketOptions } from '../api-client/device-socket.ts';
import { deviceCaller } from '../api-client/session.ts';
import { ConnectDevice } from '../device/connect/connect-device.ts';
import type { SimulatedDevice } from '../device/device.ts';
import { type EventSink, RUN_ENDED } from '../device/events.ts';
import { hostnameOf } from '../device/inventory.ts';
import type { RunMetrics } from '../metrics/run-metrics.ts';
import { type ConnectionOptions, sourceAddressesInTurn } from '../network/connections.ts';
import { backOffMs } from '../network/retry-after.ts';
import type { ExchangeMeter } from '../network/transport.ts';
import type { DeviceControl } from './device-control.ts';

/** Options that all sockets of a run share. */
export interface FleetSocketsOptions {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: RunMetrics;
  readonly events: EventSink;
  readonly requestTimeLimitMs: number;
  readonly connection: ConnectionOptions;
  /** Returns true while the device's network is down. */
  readonly isCutOff: (device: SimulatedDevice) => boolean;
  readonly control: Pick<DeviceControl, 'wake' | 'sendInventory'>;
}

/** Interval in milliseconds at which each socket is checked. */
const SWEEP_PERIOD_MS = 100;
/** Number of devices checked at once; checking a large fleet at once would delay its requests. */
const TURN_DEVICES = 500;
/**
 * Maximum number of turns per sweep, because timers are at least a millisecond apart. In a larger
 * fleet, each turn checks more devices.
 */
const TURNS_MAX = 20;
/** Maximum number of concurrent handshakes; more would overflow the server's accept queue. */
const HANDSHAKES_MAX = 128;

interface SocketState {
  socket: DeviceSocket | undefined;
  /** Handles the messages of the device and stores its files; undefined until the first message. */
  spoken: ConnectDevice | undefined;
  /** Number of consecutive breaks without an open connection in between. */
  breaks: number;
  dueMs: number;
  openedMs: number;
  /** Number of handshakes that this device has started. */
  openings: number;
  /** True while the handshake waits for the delay of the device's simulated network. */
  isOnWay: boolean;
}

/** The WebSockets of a fleet. `close` closes all of them. */
export class FleetSockets {
  readonly #options: FleetSocketsOptions;
  readonly #devices: readonly SimulatedDevice[];
  readonly #states = new Map<SimulatedDevice, SocketState>();
  readonly #opening = new Set<DeviceSocket>();
  readonly #turns: number;
  #turn = 0;
  readonly #sweeps: Timer;
  readonly #nextAddress: () => string | undefined;

  constructor(devices: readonly SimulatedDevice[], options: FleetSocketsOptions) {
    this.#devices = devices;
    this.#options = options;
    this.#nextAddress = sourceAddressesInTurn(options.connection);
    this.#turns = Math.min(Math.max(Math.ceil(devices.length / TURN_DEVICES), 1), TURNS_MAX);
    this.#sweeps = options.clock.every(SWEEP_PERIOD_MS / this.#turns, () => this.#sweep());
  }

  /** Returns the number of open sockets. */
  openCount(): number {
    let count = 0;
    for (const { socket } of this.#states.values()) if (socket?.state === 'open') count++;
    return count;
  }

  /** Returns the number of sockets whose handshake is in progress. */
  openingCount(): number {
    for (const socket of this.#opening) {
      if (socket.state !== 'opening') this.#opening.delete(socket);
    }
    return this.#opening.size;
  }

  /** Closes every socket cleanly, as devices do that are shut down. */
  close(): void {
    this.#sweeps.cancel();
    for (const [{ index: device }, { socket }] of this.#states) {
      const wasOpen = socket?.state === 'open';
      socket?.close();
      if (wasOpen) this.#options.events.emit({ kind: 'socket-closed', device, cause: RUN_ENDED });
    }
  }

  /** Drops the connection of a device that lost power. This is not counted as an error. */
  drop(device: SimulatedDevice, cause = 'power-lost'): void {
    const state = this.#states.get(device);
    if (state?.socket === undefined) return;
    const wasOpen = state.socket.state === 'open';
    state.socket.drop();
    state.socket = undefined;
    state.spoken?.disconnect();
    state.breaks = 0;
    if (wasOpen) {
      this.#options.events.emit({ kind: 'socket-closed', device: device.index, cause });
    }
  }

  /**
   * Drops a connection that the device's behaviour has held for its maximum time. The device
   * reconnects after its back-off.
   */
  #dropExpired(device: SimulatedDevice, state: SocketState, nowMs: number): void {
    const { hooks, parameters } = device.behaviour;
    const holdsMs = hooks.socketHoldsMs?.(parameters);
    const isOpen = state.socket?.state === 'open';
    if (holdsMs === undefined || !isOpen || nowMs - state.openedMs < holdsMs) return;
    this.drop(device, 'dropped');
    state.dueMs = nowMs + this.#backOffMs(device, 1);
  }

  #backOffMs(device: SimulatedDevice, breaks: number): number {
    const chance = this.#options.random.stream(`device/${device.index}/socket/${breaks}`);
    return backOffMs(breaks, device.cohort.policy.backOff, chance);
  }

  #sweep(): void {
    const { clock } = this.#options;
    const nowMs = clock.now();
    const monotonicMs = clock.monotonicMs();
    let handshakes = this.openingCount();
    for (const device of this.#devicesOfTurn()) {
      if (device.off || device.session?.token === undefined) continue;
      const state = this.#stateOf(device);
      const isCutOff = this.#options.isCutOff(device);
      if (isCutOff && state.socket !== undefined) this.cut(device);
      state.socket?.watch(monotonicMs);
      this.#dropExpired(device, state, nowMs);
      if (state.spoken !== undefined) state.socket?.say(state.spoken.due());
      if (state.socket?.state === 'closed') this.#recordBreak(device, state, nowMs);
      const isDue = state.socket === undefined && state.dueMs <= nowMs;
      if (isDue && isCutOff) this.#recordUnreached(device, state, 'transport/OUTAGE');
      else if (isDue && handshakes < HANDSHAKES_MAX && this.#passesNetwork(device, state)) {
        handshakes++;
        this.#open(device, state);
      }
    }
  }

  #devicesOfTurn(): readonly SimulatedDevice[] {
    const size = Math.ceil(this.#devices.length / this.#turns);
    const first = this.#turn * size;
    this.#turn = (this.#turn + 1) % this.#turns;
    return this.#devices.slice(first, first + size);
  }

  /**
   * Breaks the device's connection and counts an error.
   * @param returnsAfterMs wait before the device reconnects; undefined for the device's back-off
   */
  cut(device: SimulatedDevice, returnsAfterMs?: number): void {
    const state = this.#states.get(device);
    if (state?.socket === undefined) return;
    this.drop(device, 'cut');
    this.#options.metrics.countError({ operation: operations.connect.id, label: 'cut' });
    state.breaks = 1;
    const waitMs = returnsAfterMs ?? this.#backOffMs(device, state.breaks);
    state.dueMs = this.#options.clock.now() + waitMs;
  }

  /**
   * Returns true when the handshake may be sent. As for requests, the delay of both directions
   * passes before that.
   */
  #passesNetwork(device: SimulatedDevice, state: SocketState): boolean {
    const network = device.session?.network;
    if (network === undefined || state.isOnWay) return true;
    const waitMs = network.handshakeMs(state.openings++);
    if (waitMs === undefined) {
      this.#recordUnreached(device, state, 'transport/NETWORK_LOSS');
      return false;
    }
    state.isOnWay = true;
    state.dueMs = this.#options.clock.now() + waitMs;
    return waitMs === 0;
  }

  #recordUnreached(device: SimulatedDevice, state: SocketState, label: string): void {
    state.breaks++;
    state.isOnWay = false;
    this.#options.metrics.countError({ operation: operations.connect.id, label });
    state.dueMs = this.#options.clock.now() + this.#backOffMs(device, state.breaks);
  }

  #stateOf(device: SimulatedDevice): SocketState {
    const socketState = this.#states.get(device);
    if (socketState) return socketState;
    const state = {
      socket: undefined,
      spoken: undefined,
      breaks: 0,
      dueMs: Number.NEGATIVE_INFINITY,
      openedMs: Number.POSITIVE_INFINITY,
      openings: 0,
      isOnWay: false,
    };
    this.#states.set(device, state);
    return state;
  }

  #recordBreak(device: SimulatedDevice, state: SocketState, nowMs: number): void {
    state.breaks = state.socket?.wasOpen ? 1 : state.breaks + 1;
    const label = state.socket?.closedBy ?? 'closed';
    this.#options.metrics.countError({ operation: operations.connect.id, label });
    this.#options.events.emit({ kind: 'socket-closed', device: device.index, cause: label });
    // The server no longer accepts the token, so the device must authenticate before it reconnects.
    const { session } = device;
    const isRefused = state.socket?.refusedWith === 401;
    if (isRefused && session?.renewsToken) session.token = undefined;
    state.socket = undefined;
    state.spoken?.disconnect();
    state.dueMs = nowMs + this.#backOffMs(device, state.breaks);
  }

  #open(device: SimulatedDevice, state: SocketState): void {
    const { token, network } = device.session ?? {};
    if (token === undefined) return;
    state.isOnWay = false;
    const { metrics: _, events, connection, ...options } = this.#options;
    const sourceAddress = this.#nextAddress();
    const observer = this.#handshakeObserver(device);
    const respond: DeviceSocketOptions['respond'] = (message) => {
      state.spoken ??= this.#spokenDevice(device);
      return state.spoken.respond(message);
    };
    const onOpen = (): void => {
      state.openedMs = this.#options.clock.now();
      events.emit({ kind: 'socket-opened', device: device.index });
    };
    const socket = new DeviceSocket(token, {
      ...options,
      ...connection,
      sourceAddress,
      observer,
      respond,
      onOpen,
      frames: network && ((broken) => network.frames(state.openings, broken)),
    });
    state.socket = socket;
    this.#opening.add(socket);
  }

  /** Returns an observer that counts a handshake and emits an event for it. */
  #handshakeObserver({ index: device }: SimulatedDevice): ExchangeMeter {
    const { metrics, events, clock } = this.#options;
    const caller = deviceCaller(device);
    const startedMs = clock.monotonicMs();
    return {
      recordLateness: (latenessMs) => metrics.recordLateness(latenessMs),
      recordRefusedSignature: (operation) => metrics.recordRefusedSignature(operation),
      recordSentBytes: (operation, bytes) => metrics.recordSentBytes(operation, bytes),
      recordReceivedBytes: (operation, bytes) => metrics.recordReceivedBytes(operation, bytes),
      recordResponse: ({ operation, status, elapsedMs, waitingMs }) => {
        metrics.recordResponse({ operation, caller, status, elapsedMs, waitingMs });
        events.emit({ kind: 'exchange', device, operation, status, elapsedMs, waitingMs });
      },
      recordNoResponse: ({ operation, noResponse }) => {
        metrics.recordNoResponse({ operation, caller, noResponse });
        const elapsedMs = clock.monotonicMs() - startedMs;
        events.emit({ kind: 'exchange', device, operation, cause: noResponse, elapsedMs });
      },
    };
  }

  #spokenDevice(device: SimulatedDevice): ConnectDevice {
    const { clock, control } = this.#options;
    return new ConnectDevice({
      clock,
      facts: {
        hostname: hostnameOf(device),
        deviceType: () => device.provides.device_type,
        artifactName: () => device.provides.artifact_name,
      },
      checkUpdate: () => control.wake(device),
      sendInventory: () => control.sendInventory(device),
    });
  }
}
