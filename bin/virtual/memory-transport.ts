/**
 * Carries the requests of a fleet to a server in the same process without sockets or HTTP bytes. On
 * request it delays or loses them in virtual time.
 */
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock, Timer } from '../../fixtures/base/clock.ts';
import type {
  MemoryListener,
  MemoryRequest,
  MemoryResponseReader,
} from '../../server/listeners/memory-listener.ts';
import type {
  DispatchedResponse,
  InProcessSubject,
  InProcessTransport,
  RequestDispatcher,
} from '../../simulator/network/in-process-transport.ts';

/** The delays, in milliseconds of virtual time, and the faults of one exchange. */
export interface ExchangeDisturbance {
  readonly requestDelayMs: number;
  readonly responseDelayMs: number;
  /** True when the request does not reach the server. */
  readonly isRequestLost: boolean;
  /** The caller's result instead of the response: this error, or an empty success. */
  readonly replacement: Error | 'success' | undefined;
  /** True when the next restart of the server loses this request's changes and all later ones. */
  readonly isNotStored?: boolean;
  /**
   * Duration of a restart that starts once the server has received the request, in milliseconds.
   */
  readonly restartsForMs?: number | undefined;
}

/** The server as seen by the transport. */
export interface ReachedServer {
  readonly listener: MemoryListener;
  /** False for a server that is always up. */
  readonly mayRestart: boolean;
  readonly isUp: boolean;
  /** Number of times that the server has stopped; each stop lost the exchanges in progress. */
  readonly stopCount: number;
  /** Number of callers whose responses delay a restart. */
  privilegedCount: number;
  restart(lastingMs: number): void;
  /** Makes the server lose all further changes: it restarts with its present data. */
  loseLaterChanges(): void;
  /** Calls `act` once the server is up. Returns a function that cancels the call. */
  onceUp(act: () => void): () => void;
}

/** The server that receives the requests, and the faults on the way to it. */
interface MemoryTransportOptions {
  readonly server: ReachedServer;
  /** A listener to call instead of the server's own. */
  readonly listener?: MemoryListener | undefined;
  /** Value of the Host header in every request. */
  readonly host: string;
  readonly clock: Clock;
  /** Returns the delays and faults of an exchange; undefined for none. */
  readonly disturbanceOf?:
    | ((subject: InProcessSubject) => ExchangeDisturbance | undefined)
    | undefined;
}

type DispatchRequest = Pick<Dispatcher.DispatchOptions, 'method' | 'path' | 'headers' | 'body'>;

const NO_CONTENT = 204;
/**
 * The caller that no restart interrupts: the user of the run. It waits while the server is down,
 * and the server does not stop while it waits for a response. Without a response to its creation, a
 * run could not know whether a deployment exists.
 */
const SPARED_CALLER = 'user';
const undisturbed: ExchangeDisturbance = {
  requestDelayMs: 0,
  responseDelayMs: 0,
  isRequestLost: false,
  replacement: undefined,
};

/** An in-process transport that calls the listener of a server in the same process. */
export class MemoryTransport implements InProcessTransport {
  readonly #options: MemoryTransportOptions;
  readonly #direct: RequestDispatcher;
  readonly #listener: MemoryListener;
  inFlightCount = 0;

  constructor(options: MemoryTransportOptions) {
    this.#options = options;
    this.#listener = options.listener ?? options.server.listener;
    this.#direct = dispatching((request, reader) => {
      this.#listener(this.#requestOf(request), reader);
      return nothingToCancel;
    });
  }

  over(subject: InProcessSubject): RequestDispatcher {
    const { disturbanceOf, server } = this.#options;
    const disturbance = disturbanceOf?.(subject);
    if (!server.mayRestart) {
      if (disturbance === undefined) return this.#direct;
      return dispatching((request, reader) => this.#pass(request, disturbance, reader));
    }
    const plan = disturbance ?? undisturbed;
    if (subject.caller !== SPARED_CALLER) {
      return dispatching((request, reader) => this.#pass(request, plan, reader));
    }
    return dispatching((request, reader) => this.#passWhenUp(request, plan, reader));
  }

  #requestOf({ method, path, headers, body }: DispatchRequest): MemoryRequest {
    return {
      method,
      target: path,
      host: this.#options.host,
      headers: headers as Record<string, string>,
      body: body as string | Buffer | null | undefined,
    };
  }

  #pass(
    request: DispatchRequest,
    disturbance: ExchangeDisturbance,
    reader: ResponseReader,
  ): () => void {
    const { server } = this.#options;
    const { requestDelayMs, responseDelayMs, isRequestLost, replacement, restartsForMs } =
      disturbance;
    const stopCount = server.isUp ? server.stopCount : undefined;
    const breakError = (): Error | undefined =>
      server.isUp && server.stopCount === stopCount ? undefined : lossOf(stopCount === undefined);
    let cancel = nothingToCancel;
    const deliverLater = (deliver: () => void): void => {
      if (restartsForMs !== undefined) server.restart(restartsForMs);
      cancel = this.#after(responseDelayMs, () => {
        const loss = breakError() ?? replacement;
        if (loss === undefined) deliver();
        else if (loss instanceof Error) reader.onLoss(loss);
        else emptySuccess(reader);
      });
    };
    cancel = this.#after(requestDelayMs, () => {
      if (breakError()) return deliverLater(nothingToCancel);
      if (disturbance.isNotStored) server.loseLaterChanges();
      if (isRequestLost) deliverLater(nothingToCancel);
      else this.#listener(this.#requestOf(request), heldBack(reader, deliverLater));
    });
    return () => cancel();
  }

  /**
   * Passes a request of the privileged caller: the request waits until the server is up, and a restart
   * waits for its response.
   */
  #passWhenUp(
    request: DispatchRequest,
    disturbance: ExchangeDisturbance,
    reader: ResponseReader,
  ): () => void {
    const { server } = this.#options;
    let isOver = false;
    const over = (): void => {
      if (!isOver) server.privilegedCount--;
      isOver = true;
    };
    const pass = (): (() => void) => {
      server.privilegedCount++;
      const cancel = this.#pass(request, disturbance, endingWith(reader, over));
      return () => {
        cancel();
        over();
      };
    };
    if (server.isUp) return pass();
    this.inFlightCount++;
    let cancel = nothingToCancel;
    const cancelWait = server.onceUp(() => {
      this.inFlightCount--;
      cancel = pass();
    });
    cancel = () => {
      cancel = nothingToCancel;
      cancelWait();
      this.inFlightCount--;
    };
    return () => cancel();
  }

  /**
   * Calls `act` after a delay. Returns a function that cancels the call when the caller gives up.
   */
  #after(delayMs: number, act: () => void): () => void {
    if (delayMs === 0) {
      act();
      return nothingToCancel;
    }
    let timer: Timer | undefined = this.#options.clock.after(delayMs, () => {
      timer = undefined;
      this.inFlightCount--;
      act();
    });
    this.inFlightCount++;
    return () => {
      if (timer === undefined) return;
      timer.cancel();
      timer = undefined;
      this.inFlightCount--;
    };
  }
}

interface ResponseReader extends MemoryResponseReader {
  onLoss(error: Error): void;
}

const nothingToCancel = (): void => undefined;

/** Returns the error for a caller when the server is down, or has stopped meanwhile. */
function lossOf(wasDown: boolean): Error {
  const code = wasDown ? 'ECONNREFUSED' : 'ECONNRESET';
  return Object.assign(new Error(code), { code });
}

function endingWith(reader: ResponseReader, over: () => void): ResponseReader {
  return {
    onHead: (status, headers) => reader.onHead(status, headers),
    onData: (chunk) => reader.onData(chunk),
    onEnd: () => {
      over();
      reader.onEnd();
    },
    onLoss: (error) => {
      over();
      reader.onLoss(error);
    },
  };
}

function emptySuccess(reader: ResponseReader): void {
  reader.onHead(NO_CONTENT, {});
  reader.onEnd();
}

/** Collects a response, and calls `complete` with a function that delivers it. */
function heldBack(
  reader: ResponseReader,
  complete: (deliver: () => void) => void,
): MemoryResponseReader {
  const steps: (() => void)[] = [];
  return {
    onHead: (status, headers) => steps.push(() => reader.onHead(status, headers)),
    onData: (chunk) => steps.push(() => reader.onData(chunk)),
    onEnd: () => {
      steps.push(() => reader.onEnd());
      complete(() => {
        for (const step of steps) step();
      });
    },
  };
}

/** Sends a request. @returns a function that cancels what has not arrived yet */
type SendInMemory = (request: DispatchRequest, reader: ResponseReader) => () => void;

function dispatching(send: SendInMemory): RequestDispatcher {
  return {
    dispatch: (options, handler) => {
      const controller = new Controller();
      handler.onRequestStart?.(controller, undefined);
      controller.cancel = send(options, {
        onHead: (status, headers) => handler.onResponseStart?.(controller, status, headers),
        onData: (chunk) => handler.onResponseData?.(controller, chunk),
        onEnd: () => handler.onResponseEnd?.(controller, {}),
        onLoss: (error) => handler.onResponseError?.(controller, error),
      });
      return true;
    },
    request: (options) =>
      new Promise<DispatchedResponse>((resolve, reject) => {
        const body = new Readable({ read: () => undefined });
        const cancel = send(options, {
          onHead: (statusCode, headers) => resolve({ statusCode, headers, body }),
          onData: (chunk) => body.push(chunk),
          onEnd: () => body.push(null),
          onLoss: reject,
        });
        const signal = options.signal as AbortSignal | undefined;
        signal?.addEventListener('abort', () => {
          cancel();
          reject(signal.reason);
          body.on('error', () => undefined).destroy(signal.reason);
        });
      }),
  };
}

/** The controller of one exchange, by which its caller can give up. */
class Controller implements Dispatcher.DispatchController {
  cancel = nothingToCancel;
  readonly paused = false;
  aborted = false;
  reason: Error | null = null;

  abort(reason: Error): void {
    this.aborted = true;
    this.reason = reason;
    this.cancel();
  }

  pause(): void {}

  resume(): void {}
}
