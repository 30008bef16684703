/**
 * How connections to a server are made: trusted authorities, client certificate and source
 * addresses.
 */
import { buildConnector } from 'undici';

/** Certificates and source addresses; the same for requests and sockets. */
export interface Wiring {
  /** Certificates of the authorities to trust instead of the well-known ones, in PEM. */
  readonly caPem?: string | undefined;
  /** The fleet's own certificate with its key, in PEM. */
  readonly certPem?: string | undefined;
  readonly keyPem?: string | undefined;
  /** Source addresses to use in turn; when absent, the system chooses. */
  readonly sourceAddresses?: readonly string[] | undefined;
}

/**
 * Returns the TLS settings for Node. Certificates are always verified: no environment variable can
 * disable that.
 */
export function tlsSettings({ caPem, certPem, keyPem }: Wiring) {
  return {
    rejectUnauthorized: true,
    ...(caPem !== undefined && { ca: caPem }),
    ...(certPem !== undefined && { cert: certPem }),
    ...(keyPem !== undefined && { key: keyPem }),
  };
}

/**
 * Returns a function that cycles through the source addresses; it returns undefined where the
 * system chooses.
 */
export function sourceAddressesInTurn({ sourceAddresses = [] }: Wiring): () => string | undefined {
  let next = 0;
  return () => sourceAddresses[next++ % sourceAddresses.length];
}

/** Returns the connector of a connection pool. */
export function connectorFor(wiring: Wiring, timeoutMs: number): buildConnector.connector {
  const settings = { ...tlsSettings(wiring), timeout: timeoutMs };
  const connect = buildConnector(settings);
  const { sourceAddresses } = wiring;
  if (sourceAddresses === undefined) return connect;
  const nextAddress = sourceAddressesInTurn(wiring);
  return (options, done) => connect({ ...options, localAddress: nextAddress() ?? null }, done);
}
