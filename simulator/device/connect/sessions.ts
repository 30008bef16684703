/**
 * The sessions of one device, by ID. A session starts with its first message, passes messages to
 * the handlers of their protocols, answers control messages, and ends when the other side closes it
 * or stays silent. Shells have their own limits and lifetime and are handled separately.
 * Spec: Device connect
 */
import type { Clock } from '../../../fixtures/base/clock.ts';
import {
  connectErrorShape,
  decodeBody,
  encodeBody,
  openShape,
} from '../../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  ConnectMessageError,
  connectProtocols,
} from '../../../fixtures/formats/connect-message.ts';
import type { OutgoingMessage, ProtocolHandler } from './connect-environment.ts';
import { controlError } from './replies.ts';

/** Limits on a device's sessions. */
const sessionLimits = {
  sessionsMax: 64,
  /** Idle time after which the device pings the other side. */
  pingAfterSeconds: 48,
  /** Idle time after which the session ends. */
  idleMaxSeconds: 60,
} as const;

const VERSION = 1;
const MS = 1000;

interface Session {
  readonly sid: string;
  readonly handlers: Map<number, ProtocolHandler>;
  lastActivityMs: number;
  isPinged: boolean;
}

/** Functions that create the handler of a protocol for a session, by protocol number. */
type ProtocolHandlers = ReadonlyMap<number, () => ProtocolHandler>;

interface SessionsOptions {
  readonly clock: Clock;
  readonly routes: ProtocolHandlers;
  /** Numbers of the protocols that a session accepts. */
  readonly protocols: readonly number[];
  /** Called when the other side closes a session, or ends it with an error. */
  readonly onClose: (sid: string) => void;
}

/** All sessions of a device. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, Session>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  respond(message: ConnectMessage): readonly ConnectMessage[] {
    const sid = message.sid ?? '';
    const session = this.#session(sid);
    const replies =
      session === undefined
        ? [controlError(message, `too many sessions: ${this.#sessions.size} are open`, true)]
        : this.#route(session, message);
    return replies.map((reply) => ({ ...reply, sid }));
  }

  /** Records activity of the other side in a message that the shells handled. */
  noteLife(sid: string): void {
    const session = this.#sessions.get(sid);
    if (session) this.#recordActivity(session);
  }

  /** Returns the messages that are due: pings to idle sessions, and closes of those that did not answer. */
  due(): readonly ConnectMessage[] {
    const nowMs = this.#options.clock.monotonicMs();
    return [...this.#sessions.values()].flatMap((session) =>
      this.#dueOf(session, nowMs).map((reply) => ({ ...reply, sid: session.sid })),
    );
  }

  #dueOf(session: Session, nowMs: number): readonly OutgoingMessage[] {
    const idleMs = nowMs - session.lastActivityMs;
    if (idleMs >= sessionLimits.idleMaxSeconds * MS) {
      return [...this.#end(session), controlError({}, 'session timeout', true)];
    }
    if (session.isPinged || idleMs < sessionLimits.pingAfterSeconds * MS) return [];
    session.isPinged = true;
    return [control('ping')];
  }

  #session(sid: string): Session | undefined {
    const openSession = this.#sessions.get(sid);
    if (openSession) return openSession;
    if (this.#sessions.size >= sessionLimits.sessionsMax) return undefined;
    const session = { sid, handlers: new Map(), lastActivityMs: 0, isPinged: false };
    this.#sessions.set(sid, session);
    return session;
  }

  #recordActivity(session: Session): void {
    session.lastActivityMs = this.#options.clock.monotonicMs();
    session.isPinged = false;
  }

  #route(session: Session, message: ConnectMessage): readonly OutgoingMessage[] {
    this.#recordActivity(session);
    const { proto } = message;
    if (proto === connectProtocols.control) return this.#respondToControl(session, message);
    const handler = session.handlers.get(proto) ?? this.#options.routes.get(proto)?.();
    if (handler === undefined) {
      const digits = proto.toString(16).toUpperCase().padStart(4, '0');
      return [controlError(message, `no handler registered for protocol: 0x${digits}`, false)];
    }
    session.handlers.set(proto, handler);
    return handler.respond(message);
  }

  #respondToControl(session: Session, message: ConnectMessage): readonly OutgoingMessage[] {
    const { typ = '' } = message;
    if (typ === 'open') return this.#handshake(session, message);
    if (typ === 'ping') return [control('pong')];
    if (typ === 'pong' || typ === 'accept') return [];
    if (typ === 'close') return this.#close(session);
    if (typ === 'error') return endsSession(message) ? this.#close(session) : [];
    const problem = `session: control type message not understood: '${typ}'`;
    return [controlError(message, problem, false)];
  }

  #handshake(session: Session, message: ConnectMessage): readonly OutgoingMessage[] {
    if (versionsIn(message).includes(VERSION)) {
      const body = encodeBody({ version: VERSION, protocols: this.#options.protocols });
      return [{ ...control('accept'), body }];
    }
    const problem = `handshake refused: require version ${VERSION}`;
    return [...this.#end(session), controlError(message, problem, true)];
  }

  #close(session: Session): readonly OutgoingMessage[] {
    this.#options.onClose(session.sid);
    return this.#end(session);
  }

  #end(session: Session): readonly OutgoingMessage[] {
    this.#sessions.delete(session.sid);
    return [...session.handlers.values()].flatMap((handler) => handler.end());
  }
}

function control(typ: string): OutgoingMessage {
  return { proto: connectProtocols.control, typ };
}

/** Returns the protocol versions that the other side offers; empty when the body is invalid. */
function versionsIn({ body }: ConnectMessage): readonly number[] {
  try {
    return decodeBody(openShape, body).versions;
  } catch (error) {
    if (!(error instanceof ConnectMessageError)) throw error;
    return [];
  }
}

/**
 * Returns true when the error says that the session is closed; false when the error is unreadable.
 */
function endsSession({ body }: ConnectMessage): boolean {
  try {
    return decodeBody(connectErrorShape, body).close ?? false;
  } catch (error) {
    if (!(error instanceof ConnectMessageError)) throw error;
    return false;
  }
}
