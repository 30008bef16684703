/**
 * Carries the requests of a fleet to a server of the same process: no sockets, no bytes of HTTP. On
 * request it also delays them in virtual time, and loses them.
 */
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock, Timer } from '../../fixtures/clock.ts';
import type {
  MemoryAnswerReader,
  MemoryListener,
  MemoryRequest,
} from '../../server/listeners/memory-listener.ts';
import type {
  CarriedAnswer,
  Carrier,
  CarrierSubject,
  Dispatching,
} from '../../simulator/network/carrier.ts';

/** What happens to one exchange on its way; delays in milliseconds of virtual time. */
export interface ExchangePlan {
  readonly requestDelayMs: number;
  readonly answerDelayMs: number;
  /** The request does not reach the server. */
  readonly isRequestLost: boolean;
  /** What the caller receives in place of an answer: this error, or an empty success. */
  readonly instead: Error | 'success' | undefined;
  /** The server's store loses it, and what comes after it, when the server ends. */
  readonly isNotStored?: boolean;
  /** The server ends once it has the request, and is back this much later. */
  readonly restartsForMs?: number | undefined;
}

/** The server as seen from the way to it. */
export interface ReachedServer {
  readonly listener: MemoryListener;
  /** False for one that is always up. */
  readonly mayRestart: boolean;
  readonly isUp: boolean;
  /** Number of times that it has ended, and with it what was on the way. */
  readonly ends: number;
  /** Callers for whose answers a restart waits. */
  sparedCount: number;
  restart(lastingMs: number): void;
  /** What it has kept by now is what it comes back with. */
  keepNothingMore(): void;
  /** Returns how to cancel it. */
  onceUp(act: () => void): () => void;
}

/** The server that receives the requests, and the faults on the way to it. */
interface MemoryCarrierOptions {
  readonly server: ReachedServer;
  /** Stands in the place of the server's own listener. */
  readonly listener?: MemoryListener | undefined;
  /** Value of the Host header in every request. */
  readonly host: string;
  readonly clock: Clock;
  /** Returns what happens to an exchange; undefined when nothing does. */
  readonly planOf?: ((subject: CarrierSubject) => ExchangePlan | undefined) | undefined;
}

type Options = Pick<Dispatcher.DispatchOptions, 'method' | 'path' | 'headers' | 'body'>;

const NO_CONTENT = 204;
/**
 * The user of a run waits for a server that is down, and it does not end while the user waits for an
 * answer: a run cannot tell whether a deployment exists whose creation was not answered.
 */
const SPARED_CALLER = 'operator';
const undisturbed: ExchangePlan = {
  ...{ requestDelayMs: 0, answerDelayMs: 0, isRequestLost: false, instead: undefined },
};

/** A carrier that calls the listener of a server in the same process. */
export class MemoryCarrier implements Carrier {
  readonly #options: MemoryCarrierOptions;
  readonly #direct: Dispatching;
  readonly #listener: MemoryListener;
  onTheWayCount = 0;

  constructor(options: MemoryCarrierOptions) {
    this.#options = options;
    this.#listener = options.listener ?? options.server.listener;
    this.#direct = dispatching((request, reader) => {
      this.#listener(this.#requestOf(request), reader);
      return nothingToCancel;
    });
  }

  over(subject: CarrierSubject): Dispatching {
    const { planOf, server } = this.#options;
    const exchangePlan = planOf?.(subject);
    if (!server.mayRestart) {
      if (exchangePlan === undefined) return this.#direct;
      return dispatching((request, reader) => this.#pass(request, exchangePlan, reader));
    }
    const given = exchangePlan ?? undisturbed;
    if (subject.caller !== SPARED_CALLER) {
      return dispatching((request, reader) => this.#pass(request, given, reader));
    }
    return dispatching((request, reader) => this.#passSpared(request, given, reader));
  }

  #requestOf({ method, path, headers, body }: Options): MemoryRequest {
    return {
      method,
      target: path,
      host: this.#options.host,
      headers: headers as Record<string, string>,
      body: body as string | Buffer | null | undefined,
    };
  }

  #pass(request: Options, exchangePlan: ExchangePlan, reader: Reader): () => void {
    const { server } = this.#options;
    const { requestDelayMs, answerDelayMs, isRequestLost, instead, restartsForMs } = exchangePlan;
    const ends = server.isUp ? server.ends : undefined;
    const broken = (): Error | undefined =>
      server.isUp && server.ends === ends ? undefined : lossOf(ends === undefined);
    let cancel = nothingToCancel;
    const answered = (deliver: () => void): void => {
      if (restartsForMs !== undefined) server.restart(restartsForMs);
      cancel = this.#after(answerDelayMs, () => {
        const loss = broken() ?? instead;
        if (loss === undefined) deliver();
        else if (loss instanceof Error) reader.onLoss(loss);
        else emptySuccess(reader);
      });
    };
    cancel = this.#after(requestDelayMs, () => {
      if (broken()) return answered(nothingToCancel);
      if (exchangePlan.isNotStored) server.keepNothingMore();
      if (isRequestLost) answered(nothingToCancel);
      else this.#listener(this.#requestOf(request), heldBack(reader, answered));
    });
    return () => cancel();
  }

  /** Passes a request that waits for the server, and for which the server waits. */
  #passSpared(request: Options, exchangePlan: ExchangePlan, reader: Reader): () => void {
    const { server } = this.#options;
    let isOver = false;
    const over = (): void => {
      if (!isOver) server.sparedCount--;
      isOver = true;
    };
    const pass = (): (() => void) => {
      server.sparedCount++;
      const cancel = this.#pass(request, exchangePlan, endingWith(reader, over));
      return () => {
        cancel();
        over();
      };
    };
    if (server.isUp) return pass();
    this.onTheWayCount++;
    let cancel = nothingToCancel;
    const cancelWait = server.onceUp(() => {
      this.onTheWayCount--;
      cancel = pass();
    });
    cancel = () => {
      cancel = nothingToCancel;
      cancelWait();
      this.onTheWayCount--;
    };
    return () => cancel();
  }

  /** Returns how to cancel it: a caller that gave up waits for nothing. */
  #after(delayMs: number, act: () => void): () => void {
    if (delayMs === 0) {
      act();
      return nothingToCancel;
    }
    let timer: Timer | undefined = this.#options.clock.after(delayMs, () => {
      timer = undefined;
      this.onTheWayCount--;
      act();
    });
    this.onTheWayCount++;
    return () => {
      if (timer === undefined) return;
      timer.cancel();
      timer = undefined;
      this.onTheWayCount--;
    };
  }
}

interface Reader extends MemoryAnswerReader {
  onLoss(error: Error): void;
}

const nothingToCancel = (): void => undefined;

/** What a caller sees of a server that is down, or that ended meanwhile. */
function lossOf(wasDown: boolean): Error {
  const code = wasDown ? 'ECONNREFUSED' : 'ECONNRESET';
  return Object.assign(new Error(code), { code });
}

function endingWith(reader: Reader, over: () => void): Reader {
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

function emptySuccess(reader: Reader): void {
  reader.onHead(NO_CONTENT, {});
  reader.onEnd();
}

/** Collects an answer, and hands over how to deliver it once it is complete. */
function heldBack(reader: Reader, complete: (deliver: () => void) => void): MemoryAnswerReader {
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

/** @returns how to cancel what has not arrived yet */
type Send = (request: Options, reader: Reader) => () => void;

function dispatching(send: Send): Dispatching {
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
      new Promise<CarriedAnswer>((resolve, reject) => {
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

/** What the caller of one exchange can do to it: give up. */
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
