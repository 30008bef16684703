/**
 * The WebSockets of all devices, at most one per device; the store records which devices are
 * connected. Users reach devices here: terminals and port forwards over a WebSocket, commands and
 * files over HTTP.
 * Spec: Device connect
 */
import type { WebSocket } from 'ws';
import type { Random } from '../../fixtures/base/random.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import { connectProtocols } from '../../fixtures/formats/connect-message.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { UpgradeRequest } from '../http/upgrade-request.ts';
import type { Settings } from '../settings.ts';
import { ignoreUnwritable } from '../store/engine/storage-error.ts';
import type { Store } from '../store/store.ts';
import { audit, deviceObject, userActor } from '../tenants/audit.ts';
import type { Tenant } from '../tenants/tenants.ts';
import { closeAll, closeCodes, closeWith } from './closing.ts';
import { connectActions, type RecordAction } from './connect-actions.ts';
import type { DeviceAccess, DeviceSessions } from './device-access.ts';
import { DeviceFileAccess } from './device-files.ts';
import { DeviceSession, DeviceSessionError, type SessionFailure } from './device-session.ts';
import { DeviceSocket } from './device-socket.ts';
import { Handshakes } from './handshakes.ts';
import { watchHeartbeat } from './heartbeat.ts';
import { Relay } from './relay.ts';
import type { SocketObserver } from './socket-observer.ts';
import { watchViolations } from './violations.ts';

/** A connecting device with its tenant. */
interface ConnectingDevice {
  readonly deviceId: string;
  readonly tenant: Tenant;
}

/** The server's log; one line for each violation. */
interface SocketLog {
  info(line: string): void;
}

/** Commands that a device's client executes at once. */
type DeviceCommand = 'check-update' | 'send-inventory';

/** The open WebSockets of connected devices, and the sessions that run over them. */
export class DeviceSockets implements DeviceSessions {
  /** File access on the devices, for users. */
  readonly files = new DeviceFileAccess(this);
  readonly #log: SocketLog;
  readonly #random: Random;
  readonly #settings: Pick<Settings, 'dialects'>;
  readonly #handshakes: Handshakes;
  readonly #incompleteTransfers: ByteBudget;
  readonly #observers: readonly SocketObserver[];
  /** Open sockets by device ID. Device IDs are UUIDs, so one map serves all tenants. */
  readonly #open = new Map<string, DeviceSocket>();
  /** Every open WebSocket, with the store of its tenant. */
  readonly #sockets = new Map<WebSocket, Store>();
  #userSockets = 0;

  constructor(options: {
    random: Random;
    settings: Pick<Settings, 'dialects'>;
    requestIdHeader: string;
    incompleteTransfers: ByteBudget;
    observers: readonly SocketObserver[];
    log: SocketLog;
  }) {
    this.#log = options.log;
    this.#observers = options.observers;
    this.#settings = options.settings;
    this.#random = options.random;
    this.#handshakes = new Handshakes(options.requestIdHeader, options.incompleteTransfers);
    this.#incompleteTransfers = options.incompleteTransfers;
  }

  /** Completes a device's handshake; an earlier socket of the same device is dropped. */
  accept(handover: UpgradeRequest, device: ConnectingDevice): void {
    const { deviceId, tenant } = device;
    const origin = { socket: 'device', requestId: handover.requestId, deviceId } as const;
    this.#handshakes.complete(handover, (socket) => {
      this.#report(socket, origin, tenant);
      this.#addSocket(socket, device);
    });
  }

  /** Ends the device's socket, for example when it is decommissioned. */
  drop(deviceId: string, reason = 'decommissioned'): void {
    this.#open.get(deviceId)?.close(closeCodes.policyViolation, reason);
  }

  isConnected(deviceId: string): boolean {
    return this.#open.get(deviceId)?.isOpen === true;
  }

  /**
   * Returns undefined when a user can open a session with the device; otherwise a failure with
   * status 409 or 429.
   */
  refusalFor(deviceId: string): SessionFailure | undefined {
    const deviceSocket = this.#open.get(deviceId);
    if (!deviceSocket?.isOpen) return disconnected;
    if (!deviceSocket.hasRoom) return tooManyOfDevice;
    return this.#userSockets < limits.userSocketsMax ? undefined : tooManyOfUsers;
  }

  /**
   * Completes a user's handshake, and relays messages between the user's socket and the device's.
   */
  relay(handover: UpgradeRequest, access: DeviceAccess): void {
    // TCP keep-alive detects a user who vanished silently and would hold a session forever. Like
    // the reference implementation, the server sends no pings to users.
    handover.socket.setKeepAlive(true, limits.websocketIdleMaxSeconds * 1000);
    const { user, device, tenant } = access;
    const ids = { requestId: handover.requestId, deviceId: device.id, userId: user.id };
    this.#handshakes.complete(handover, (socket) => {
      this.#report(socket, { socket: 'user', ...ids }, tenant);
      this.#keep(socket, tenant.store);
      this.#userSockets += 1;
      socket.on('close', () => {
        this.#userSockets -= 1;
      });
      const deviceSocket = this.#open.get(device.id);
      const refusal = this.refusalFor(device.id);
      if (!deviceSocket || refusal) {
        closeWith(socket, closeCodes.goingAway, refusal?.reason ?? disconnected.reason);
        return;
      }
      const sessionId = this.#random.uuid();
      const keep = this.recorderOf(access);
      const record: typeof keep = (...act) => ignoreUnwritable(() => keep(...act));
      const incompleteTransfers = this.#incompleteTransfers;
      new Relay({ socket, deviceSocket, sessionId, userId: user.id, record, incompleteTransfers });
    });
  }

  /**
   * Sends a command to the device's client. Returns false when the device is not connected or the
   * message is too large.
   */
  command(deviceId: string, command: DeviceCommand, userId: string): boolean {
    const deviceSocket = this.#open.get(deviceId);
    if (!deviceSocket?.isOpen) return false;
    const session = { id: this.#random.uuid(), userId };
    return deviceSocket.send(session, { proto: connectProtocols.menderClient, typ: command });
  }

  /**
   * Opens a session and calls `lead`, which must end the session when it succeeds. Ends the session
   * when `lead` fails. Rethrows errors that are not a DeviceSessionError.
   */
  async runInSession<Result>(
    { device, user, tenant }: DeviceAccess,
    lead: (session: DeviceSession) => Promise<Result>,
  ): Promise<Result | SessionFailure> {
    const deviceSocket = this.#open.get(device.id);
    if (!deviceSocket?.isOpen) return disconnected;
    if (!deviceSocket.hasRoom) return tooManyOfDevice;
    const options = { id: this.#random.uuid(), userId: user.id, clock: tenant.clock };
    const session = new DeviceSession(deviceSocket, options);
    try {
      return await lead(session);
    } catch (error) {
      session.end();
      if (!(error instanceof DeviceSessionError)) throw error;
      return error.failure;
    }
  }

  /** Returns a recorder of the user's actions for the audit log. */
  recorderOf({ user, device, tenant }: DeviceAccess): RecordAction {
    return (name, detail) => {
      const { action, change } = connectActions[name];
      const act = {
        actor: userActor(user),
        action,
        wideAction: name,
        object: deviceObject(device),
      };
      const message = detail === undefined ? change : `${change}: ${detail}`;
      const { store, clock } = tenant;
      const context = { store, settings: this.#settings, nowMs: clock.now() };
      audit(context, { ...act, change: message });
    };
  }

  /**
   * Closes every socket as going away, terminates those that do not answer within a second, and
   * refuses further handshakes.
   */
  async close(): Promise<void> {
    await this.#closeAll([...this.#sockets.keys()], 'server shutting down');
    this.#handshakes.close();
  }

  /** Closes every socket of the tenant that has this store, as `close` does. */
  async closeTenant(store: Store): Promise<void> {
    const storeSockets = [...this.#sockets.keys()].filter(
      (socket) => this.#sockets.get(socket) === store,
    );
    await this.#closeAll(storeSockets, 'the tenant was reset or removed');
  }

  #closeAll(sockets: readonly WebSocket[], reason: string): Promise<void> {
    // Newest first: users' sockets were opened after the device sockets they use, and the end of a
    // device's socket closes its users' sockets with a different reason.
    return closeAll(sockets.toReversed(), reason);
  }

  #addSocket(socket: WebSocket, { deviceId, tenant }: ConnectingDevice): void {
    const { store, clock } = tenant;
    // As in the reference implementation, the older socket ends without a close frame, and the
    // device remains connected.
    this.#open.get(deviceId)?.terminate();
    const deviceSocket = new DeviceSocket(socket);
    this.#open.set(deviceId, deviceSocket);
    this.#keep(socket, store);
    ignoreUnwritable(() => store.connections.record(deviceId, 'connected', clock.now()));
    const stopHeartbeat = watchHeartbeat(socket, clock);
    socket.on('close', () => {
      stopHeartbeat();
      if (this.#open.get(deviceId) !== deviceSocket) return;
      this.#open.delete(deviceId);
      // A decommissioned device has no connection state to record.
      if (!store.devices.find(deviceId)) return;
      ignoreUnwritable(() => store.connections.record(deviceId, 'disconnected', clock.now()));
    });
  }

  #report(...message: Parameters<NonNullable<SocketObserver['onSocket']>>): void {
    for (const observer of this.#observers) observer.onSocket?.(...message);
    const [socket, { socket: owner, deviceId, requestId }] = message;
    watchViolations(socket, ({ code, reason }) => {
      const event = code === 0 ? 'stays open' : `was closed with ${code}`;
      this.#log.info(
        `the WebSocket of a ${owner} ${event}: ${reason} (device ${deviceId}, ${requestId}); see: npx fleetbed journal --kind frame --device ${deviceId}`,
      );
    });
  }

  #keep(socket: WebSocket, store: Store): void {
    this.#sockets.set(socket, store);
    socket.on('close', () => this.#sockets.delete(socket));
  }
}

const disconnected: SessionFailure = { status: 409, reason: 'device disconnected' };
const { connectSessionsPerDeviceMax: deviceMax, userSocketsMax: usersMax } = limits;
const tooManyOfDevice: SessionFailure = {
  status: 429,
  reason: `the device has ${deviceMax} open sessions; close one of them first`,
};
const tooManyOfUsers: SessionFailure = {
  status: 429,
  reason: `users have ${usersMax} open WebSockets; close one of them first`,
};
