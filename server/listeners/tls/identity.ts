/** The TLS identity of a listener, and its requirements for client certificates. */
import type { ServerOptions } from 'node:https';

/** Key and certificate in PEM, and options that differ from Node's defaults. */
export interface TlsIdentity
  extends Pick<
    ServerOptions,
    'ca' | 'ciphers' | 'maxVersion' | 'minVersion' | 'rejectUnauthorized' | 'requestCert'
  > {
  readonly key: string;
  readonly cert: string;
}
