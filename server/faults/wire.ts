/**
 * The connection as actions use it: complete responses, parts of them, raw bytes, and ways to end
 * it.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Exchange } from '../http/exchange.ts';

/** Names with values, in the order in which they are sent. */
export type HeaderPairs = readonly (readonly [string, string])[];

interface WireOptions {
  readonly exchange: Exchange;
  /** Header lines that name the fault; empty for an unmarked fault. */
  readonly mark: HeaderPairs;
  /** Called once with the status that the caller sees, or 0 if it sees none. */
  readonly onStatusSent: (status: number) => void;
}

/**
 * Must be created before the response is held back, because it keeps the response's original
 * methods.
 */
export class ResponseWire {
  readonly socket: Socket;
  readonly #response: ServerResponse;
  readonly #exchange: Exchange;
  readonly #originals: Pick<ServerResponse, 'writeHead' | 'write' | 'end'>;
  readonly #onStatusSent: (status: number) => void;
  #mark: HeaderPairs;

  constructor({ exchange, mark, onStatusSent }: WireOptions) {
    const { response, request, upgrade } = exchange;
    // Every upgrade here arrives over TCP, but Node declares its socket as any stream.
    this.socket = (upgrade?.socket as Socket | undefined) ?? request.socket;
    this.#response = response;
    this.#exchange = exchange;
    this.#mark = mark;
    this.#onStatusSent = onStatusSent;
    this.#originals = {
      writeHead: response.writeHead.bind(response),
      write: response.write.bind(response),
      end: response.end.bind(response),
    };
  }

  get isDisconnected(): boolean {
    return this.socket.destroyed;
  }

  /** Sends later responses without the header that names the fault. */
  unmark(): void {
    this.#mark = [];
  }

  /** Reports that the caller will see no response. */
  withhold(): void {
    this.#sever();
  }

  /** Writes the status line and exactly these headers. */
  head(status: number, headers: HeaderPairs): void {
    for (const name of this.#response.getHeaderNames()) this.#response.removeHeader(name);
    const all = [...headers, ...this.#mark];
    this.#exchange.record.responseHeaders = all.flat();
    this.#originals.writeHead(status, all.flat());
    this.#onStatusSent(status);
  }

  /** Writes a part of the body. Resolves once it is sent or the connection is closed. */
  write(bytes: Buffer): Promise<void> {
    const { record } = this.#exchange;
    record.faultyBytes = (record.faultyBytes ?? 0) + bytes.length;
    return this.#untilClosed((done) => {
      if (bytes.length === 0) done();
      else this.#originals.write(bytes, done);
    });
  }

  /** Ends the response. Resolves once it is sent or the connection is closed. */
  end(): Promise<void> {
    return this.#untilClosed((done) => this.#originals.end(done));
  }

  /** Writes a complete response with Content-Length. */
  async answer(
    status: number,
    headers: HeaderPairs,
    body: Buffer = Buffer.alloc(0),
  ): Promise<void> {
    const isEmpty = status === 204 || status === 304;
    const length = isEmpty ? [] : [['Content-Length', String(body.length)] as const];
    this.#exchange.record.responseBody = body;
    this.head(status, [...headers, ...length]);
    await this.write(body);
    await this.end();
  }

  /** Sends everything written so far, although the response is not finished. */
  flush(): Promise<void> {
    if (!this.#response.headersSent) return Promise.resolve();
    this.#response.flushHeaders();
    return this.bare(Buffer.alloc(0));
  }

  /** Writes raw bytes to the connection, bypassing HTTP. */
  bare(bytes: Buffer): Promise<void> {
    return this.#untilClosed((done) => this.socket.write(bytes, () => done()));
  }

  /** Cuts the connection with an RST. */
  reset(): void {
    this.#sever();
    resetConnection(this.socket);
  }

  /** Closes the connection once everything written is sent. */
  cut(): void {
    this.#sever();
    this.socket.destroySoon();
  }

  /** Closes the sending side of the connection, and keeps reading. */
  halfClose(): void {
    this.#sever();
    this.socket.end();
  }

  #sever(): void {
    this.#exchange.record.isIncomplete = true;
    this.#onStatusSent(0);
  }

  #untilClosed(callback: (done: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      if (this.isDisconnected) return resolve();
      const finish = (): void => {
        this.socket.off('close', finish);
        resolve();
      };
      this.socket.on('close', finish);
      callback(finish);
    });
  }
}

/** Cuts a connection with an RST. Under TLS, where Node cannot send one, closes it abruptly. */
export function resetConnection(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
