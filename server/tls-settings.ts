/** The TLS settings and their validation; `listeners/tls/files.ts` reads the files. */
import { isIP, isIPv6 } from 'node:net';
import { groupRows, type UngroupedRows, type ValuesOf } from '../fixtures/base/option-row.ts';

/** Maximum number of names that a user may add to the certificate. */
const certificateNamesMax = 100;

const NAME_MAX_CHARACTERS = 253;
const hostName =
  /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
const allDigits = /^[\d.]+$/;

/** The TLS settings. Each of them enables TLS, with or without `--tls`. */
export const tlsRows = groupRows('TLS', {
  /**
   * Names in addition to localhost, the loopback addresses and the listening address; wildcards
   * such as `*.example.com` are permitted.
   */
  names: {
    flag: '--tls-name <name>',
    help: 'host name or address for the certificate; repeatable',
    cli: { kind: 'texts' },
  },
  /** PEM file with the certificate chain, the server's certificate first. */
  certFile: {
    flag: '--tls-cert <file>',
    help: 'PEM file with your own certificate; needs --tls-key',
    cli: { kind: 'text' },
  },
  /** PEM file with the private key, without a passphrase. */
  keyFile: {
    flag: '--tls-key <file>',
    help: 'PEM file with the key of that certificate',
    cli: { kind: 'text' },
  },
  clientCaFile: {
    flag: '--tls-client-ca <file>',
    help: 'require client certificates from a CA in this PEM file',
    cli: { kind: 'text' },
  },
  /** PEM file of the test CA: created if missing, otherwise reused. */
  caKeepFile: {
    flag: '--tls-ca-keep <file>',
    help: 'keep the test CA and its private key in this PEM file across restarts',
    cli: { kind: 'text' },
  },
  /** Key type of the server's certificate; the test CA always signs with RSA. */
  keyType: {
    flag: '--tls-key-type <type>',
    help: 'key of the certificate by the test CA: rsa (default), or ec for P-256',
    cli: { kind: 'choices', values: ['rsa', 'ec'] },
  },
  brokenTls: {
    flag: '--tls-broken',
    help: 'listen on extra ports with broken TLS, one for each kind of error',
    cli: { kind: 'switch' },
  },
} as const satisfies UngroupedRows);

/**
 * TLS settings of the API's listeners. Without certificate files, the server creates a test CA and
 * a certificate.
 */
export type TlsSettings = ValuesOf<typeof tlsRows>;

/** Returns a sentence about the first invalid setting; undefined when all are valid. */
export function tlsSettingsProblem(tls: TlsSettings): string | undefined {
  const { names = [], certFile, keyFile, caKeepFile, keyType, brokenTls = false } = tls;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    const [presentFile, missing] =
      certFile === undefined ? ['key', 'certificate'] : ['certificate', 'key'];
    return `TLS has a ${presentFile} file but no ${missing} file; give both, or neither for a test CA`;
  }
  if (certFile !== undefined) {
    if (names.length > 0) return needlessSetting('TLS names', 'its own names');
    if (brokenTls) return needlessSetting('broken TLS', 'no test CA, which broken TLS requires');
    if (keyType !== undefined) return needlessSetting('the TLS key type', 'its own key');
    if (caKeepFile !== undefined)
      return needlessSetting('the file of the test CA', 'no test CA to keep');
  }
  if (names.length > certificateNamesMax) {
    return `a TLS certificate can have at most ${certificateNamesMax} names, not ${names.length}`;
  }
  const wrong = names.find((name) => canonicalName(name) === undefined);
  if (wrong === undefined) return undefined;
  return `TLS name "${wrong}" must be a host name such as update.example.com or *.example.com, or an IP address without a port`;
}

/** Returns the refusal of a setting that a certificate file of one's own leaves without effect. */
function needlessSetting(setting: string, has: string): string {
  return `TLS with your own certificate file has ${has}; leave out ${setting}, or the certificate and key files`;
}

/**
 * Returns a host name in lower case, or an IP address in canonical form; undefined for any other
 * text.
 */
export function canonicalName(text: string): string | undefined {
  const [bare = ''] = text.split('%');
  if (isIPv6(bare)) return new URL(`http://[${bare}]`).hostname.slice(1, -1);
  if (isIP(text)) return text;
  const name = text.toLowerCase();
  const fits = name.length <= NAME_MAX_CHARACTERS && hostName.test(name) && !allDigits.test(name);
  return fits ? name : undefined;
}
