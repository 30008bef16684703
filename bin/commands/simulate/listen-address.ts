/** Parses the `ADDRESS:PORT` value of an option such as `--metrics`. */
import { isIP } from 'node:net';

export interface ListenAddress {
  readonly address: string;
  /** Port number; 0 for any free port. */
  readonly port: number;
}

const LOOPBACK = '127.0.0.1';
const PORT_MAX = 65_535;

/** A description of the texts that `listenAddress` accepts, as a clause for messages. */
export const listenAddressFormat =
  'a port (on the loopback interface) or an IP address with a port, ' +
  'such as 0.0.0.0:9464 or [::1]:9464; port 0 picks a free port';

/**
 * Parses a port on the loopback interface, or an address with a port: `9464`, `0.0.0.0:9464`,
 * `[::1]:9464`; undefined for anything else.
 */
export function listenAddress(text: string): ListenAddress | undefined {
  const [, bracketed, plain, digits] =
    /^(?:\[([^\]]*)\]:|([^:]*):)?(\d{1,5})$/.exec(text.trim()) ?? [];
  const address = bracketed ?? plain ?? LOOPBACK;
  const port = Number(digits);
  const isAddress =
    bracketed === undefined ? isIP(address) === 4 || address === 'localhost' : isIP(address) === 6;
  return digits === undefined || port > PORT_MAX || !isAddress ? undefined : { address, port };
}
