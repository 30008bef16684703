/** The user's TLS settings and their check; `files.ts` reads the files. */
import { canonicalName, certificateNamesMax } from './names.ts';

/**
 * TLS of the protocol's listeners. Without files the server creates a test CA and a certificate.
 */
export interface TlsSettings {
  /**
   * In addition to localhost, the loopback addresses and the listening address; also
   * `*.example.com`.
   */
  readonly names?: readonly string[];
  /** PEM, the server's certificate first; never without `keyFile`. */
  readonly certFile?: string;
  /** PEM, without a passphrase. */
  readonly keyFile?: string;
  /** PEM of one or more authorities; callers without a certificate of theirs are refused. */
  readonly clientCaFile?: string;
  /** PEM of the test CA with its private key: created when missing, otherwise reused. */
  readonly caKeepFile?: string;
  /** Opens a listener for each kind of faulty TLS. */
  readonly gallery?: boolean;
}

/** Returns a sentence about the first invalid setting; nothing when all are valid. */
export function tlsSettingsFault(tls: TlsSettings): string | undefined {
  const { names = [], certFile, keyFile, caKeepFile, gallery = false } = tls;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    const [given, missing] =
      certFile === undefined ? ['key', 'certificate'] : ['certificate', 'key'];
    return `TLS has a ${given} file but no ${missing} file; give both, or neither for a test CA`;
  }
  if (certFile !== undefined) {
    if (names.length > 0) return alone('names are those of the certificate file; leave them out');
    if (gallery) return alone('the gallery is made with the test CA');
    if (caKeepFile !== undefined) return alone('there is no test CA to keep');
  }
  if (names.length > certificateNamesMax) {
    return `a TLS certificate takes at most ${certificateNamesMax} names, not ${names.length}`;
  }
  const wrong = names.find((name) => canonicalName(name) === undefined);
  if (wrong === undefined) return undefined;
  return `TLS name "${wrong}" must be a host name such as update.example.com or *.example.com, or an IP address without a port`;
}

function alone(why: string): string {
  return `TLS with a certificate file of its own: ${why}, or leave out certificate and key file`;
}
