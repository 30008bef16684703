/** What an encrypted listener presents and requires of its callers. */
import type { ServerOptions } from 'node:https';

/** Key and certificate in PEM, and deviations from Node's defaults. */
export interface TlsIdentity
  extends Pick<
    ServerOptions,
    'ca' | 'ciphers' | 'maxVersion' | 'minVersion' | 'rejectUnauthorized' | 'requestCert'
  > {
  readonly key: string;
  readonly cert: string;
}
