/**
 * Settings of the connections to a server: trusted authorities, client certificate and source
 * addresses.
 */
import { buildConnector } from 'undici';

/** Certificates and source addresses, used for requests and for sockets. */
export interface ConnectionOptions {
  /** Certificates of the authorities to trust in place of Node's built-in list, in PEM. */
  readonly caPem?: string | undefined;
  /** The client certificate of the fleet and its key, in PEM. */
  readonly certPem?: string | undefined;
  readonly keyPem?: string | undefined;
  /** Source addresses to use in turn; without them the operating system chooses. */
  readonly sourceAddresses?: readonly string[] | undefined;
}

/**
 * Returns the TLS settings for Node. They always verify certificates, so that
 * NODE_TLS_REJECT_UNAUTHORIZED has no effect.
 */
export function tlsSettings({ caPem, certPem, keyPem }: ConnectionOptions) {
  return {
    rejectUnauthorized: true,
    ...(caPem !== undefined && { ca: caPem }),
    ...(certPem !== undefined && { cert: certPem }),
    ...(keyPem !== undefined && { key: keyPem }),
  };
}

/**
 * Returns a function that returns the next source address at each call, in a cycle. It returns
 * undefined when the operating system chooses the address.
 */
export function sourceAddressesInTurn({
  sourceAddresses = [],
}: ConnectionOptions): () => string | undefined {
  let next = 0;
  return () => sourceAddresses[next++ % sourceAddresses.length];
}

/** Returns the connector for undici's connection pool. */
export function connectorFor(
  options: ConnectionOptions,
  timeoutMs: number,
): buildConnector.connector {
  const settings = { ...tlsSettings(options), timeout: timeoutMs };
  const connect = buildConnector(settings);
  const { sourceAddresses } = options;
  if (sourceAddresses === undefined) return connect;
  const nextAddress = sourceAddressesInTurn(options);
  return (options, done) => connect({ ...options, localAddress: nextAddress() ?? null }, done);
}
