/** How connections to a server are made: whom they trust, who they are, and where they come from. */
import { buildConnector } from 'undici';

/** Certificates and own addresses; the same for requests and sockets. */
export interface Wiring {
  /** Certificates of the authorities to trust instead of the well-known ones, in PEM. */
  readonly caPem?: string | undefined;
  /** The fleet's own certificate with its key, in PEM. */
  readonly certPem?: string | undefined;
  readonly keyPem?: string | undefined;
  /** Own addresses to connect from, in turn; absent: the system's choice. */
  readonly sourceAddresses?: readonly string[] | undefined;
}

/**
 * The settings of TLS as Node takes them. Certificates are always verified: no variable of the
 * environment can switch that off.
 */
export function tlsSettings({ caPem, certPem, keyPem }: Wiring) {
  return {
    rejectUnauthorized: true,
    ...(caPem !== undefined && { ca: caPem }),
    ...(certPem !== undefined && { cert: certPem }),
    ...(keyPem !== undefined && { key: keyPem }),
  };
}

/** Gives the own addresses out in turn; undefined where the system is to choose. */
export function sourceAddressesInTurn({ sourceAddresses = [] }: Wiring): () => string | undefined {
  let next = 0;
  return () => sourceAddresses[next++ % sourceAddresses.length];
}

/** Makes the connections of a pool. */
export function connectorFor(wiring: Wiring, timeoutMs: number): buildConnector.connector {
  const settings = { ...tlsSettings(wiring), timeout: timeoutMs };
  const connect = buildConnector(settings);
  const { sourceAddresses } = wiring;
  if (sourceAddresses === undefined) return connect;
  const nextAddress = sourceAddressesInTurn(wiring);
  return (options, done) => connect({ ...options, localAddress: nextAddress() ?? null }, done);
}
