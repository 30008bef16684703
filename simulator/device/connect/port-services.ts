/**
 * Services on a device's own ports, in memory: an echo service on port 7 and a small web page on
 * port 80. They open no real sockets.
 */
import type { DeviceDescription } from './connect-environment.ts';

/** One connection to a service. */
export interface PortConnection {
  /** Accepts bytes from the client and returns the service's reply. */
  receive(bytes: Uint8Array): Buffer;
  /** True once the service has sent its whole reply. */
  readonly hasEnded: boolean;
}

type OpenPort = (facts: DeviceDescription) => PortConnection;

const services = new Map<string, OpenPort>([
  ['tcp/7', echo],
  ['udp/7', echo],
  ['tcp/80', (facts) => new WebConnection(facts)],
]);

/**
 * Opens a connection to one of the device's ports. Returns undefined when no service listens there.
 */
export function openPort(
  protocol: string,
  port: number,
  facts: DeviceDescription,
): PortConnection | undefined {
  return services.get(`${protocol}/${port}`)?.(facts);
}

function echo(): PortConnection {
  return { receive: (bytes) => Buffer.from(bytes), hasEnded: false };
}

const REQUEST_MAX_BYTES = 8192;
const HEAD_END = '\r\n\r\n';

/** A web server for one HTTP/1.1 request per connection. */
class WebConnection implements PortConnection {
  readonly #facts: DeviceDescription;
  #request = '';
  hasEnded = false;

  constructor(facts: DeviceDescription) {
    this.#facts = facts;
  }

  receive(bytes: Uint8Array): Buffer {
    if (this.hasEnded) return Buffer.alloc(0);
    this.#request += Buffer.from(bytes).toString('latin1');
    if (this.#request.length > REQUEST_MAX_BYTES) return this.#respond('431 Too Large');
    if (!this.#request.includes(HEAD_END)) return Buffer.alloc(0);
    const [method, path] = /^(\S+) (\S+) HTTP\/1\.[01]\r\n/.exec(this.#request)?.slice(1) ?? [];
    if (method === undefined) return this.#respond('400 Bad Request');
    if (method !== 'GET' && method !== 'HEAD') return this.#respond('405 Method Not Allowed');
    if (path !== '/') return this.#respond('404 Not Found');
    return this.#respond('200 OK', `${this.#facts.hostname}\n`, method === 'HEAD');
  }

  #respond(status: string, text = `${status}\n`, isHeadOnly = false): Buffer {
    this.hasEnded = true;
    const head = [
      `HTTP/1.1 ${status}`,
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      'Connection: close',
    ];
    return Buffer.from(head.join('\r\n') + HEAD_END + (isHeadOnly ? '' : text));
  }
}
