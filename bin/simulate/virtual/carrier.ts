/**
 * Carries the requests of a fleet to a server of the same process: no sockets, no bytes of HTTP. On
 * request it also delays them in virtual time, and loses them.
 */
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock, Timer } from '../../../fixtures/clock.ts';
import type {
  MemoryAnswerReader,
  MemoryListener,
  MemoryRequest,
} from '../../../server/listeners/memory-listener.ts';
import type {
  CarriedAnswer,
  Carrier,
  CarrierSubject,
  Dispatching,
} from '../../../simulator/network/carrier.ts';

/** What happens to one exchange on its way; delays in milliseconds of virtual time. */
export interface Passage {
  readonly requestDelayMs: number;
  readonly answerDelayMs: number;
  /** The request does not reach the server. */
  readonly isRequestLost: boolean;
  /** What the caller receives in place of an answer: this error, or an empty success. */
  readonly instead: Error | 'success' | undefined;
}

/** Where requests go, and what happens on the way. */
interface MemoryCarrierOptions {
  readonly listener: MemoryListener;
  /** The Host header. */
  readonly host: string;
  readonly clock: Clock;
  /** Returns what happens to an exchange; undefined when nothing does. */
  readonly passageOf?: ((subject: CarrierSubject) => Passage | undefined) | undefined;
}

type Options = Pick<Dispatcher.DispatchOptions, 'method' | 'path' | 'headers' | 'body'>;

const NO_CONTENT = 204;

/** A carrier in memory. */
export class MemoryCarrier implements Carrier {
  readonly #options: MemoryCarrierOptions;
  readonly #direct: Dispatching;
  onTheWayCount = 0;

  constructor(options: MemoryCarrierOptions) {
    this.#options = options;
    this.#direct = dispatching((request, reader) => {
      options.listener(this.#requestOf(request), reader);
      return nothingToCancel;
    });
  }

  over(subject: CarrierSubject): Dispatching {
    const passage = this.#options.passageOf?.(subject);
    if (passage === undefined) return this.#direct;
    return dispatching((request, reader) => this.#pass(request, passage, reader));
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

  #pass(request: Options, passage: Passage, reader: Reader): () => void {
    const { requestDelayMs, answerDelayMs, isRequestLost, instead } = passage;
    let cancel = nothingToCancel;
    const answered = (deliver: () => void): void => {
      cancel = this.#after(answerDelayMs, () => {
        if (instead === undefined) deliver();
        else if (instead instanceof Error) reader.onLoss(instead);
        else emptySuccess(reader);
      });
    };
    cancel = this.#after(requestDelayMs, () => {
      if (isRequestLost) answered(nothingToCancel);
      else this.#options.listener(this.#requestOf(request), heldBack(reader, answered));
    });
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
