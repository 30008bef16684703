/** Prepares the TLS identity of each listener from the TLS settings. */
import type { Clock } from '../../../fixtures/base/clock.ts';
import type { Random } from '../../../fixtures/base/random.ts';
import { canonicalName, type TlsSettings } from '../../tls-settings.ts';
import { createAuthority, freshServerEcKey, freshSigningKey, longValidity } from './authority.ts';
import { makeBrokenTls, type TlsDefect } from './broken-tls.ts';
import { keptAuthority, readClientAuthorities, readIdentity } from './files.ts';
import type { TlsIdentity } from './identity.ts';

/** The keys and certificates that the listeners present. */
export interface PreparedTls {
  /** Identity of the listeners for the API and for artifact files. */
  readonly identity: TlsIdentity;
  /** The test CA's certificate in PEM; absent when the user supplied a certificate. */
  readonly caPem?: string;
  readonly brokenTls?: Readonly<Record<TlsDefect, TlsIdentity>>;
}

const title = 'Fleetbed test CA';

/**
 * Reads or creates keys and certificates.
 * @throws SettingError when a file cannot be used
 */
export async function prepareTls(
  tls: TlsSettings,
  { clock, random, host }: { clock: Clock; random: Random; host: string },
): Promise<PreparedTls> {
  const nowMs = clock.now();
  const { clientCaFile, certFile, keyFile } = tls;
  const callers = clientCaFile && {
    ca: await readClientAuthorities(clientCaFile, nowMs),
    requestCert: true,
    rejectUnauthorized: true,
  };
  if (certFile !== undefined && keyFile !== undefined) {
    return { identity: { ...(await readIdentity({ certFile, keyFile }, nowMs)), ...callers } };
  }
  const { identity: own, ...rest } = await makeIdentity(tls, {
    nowMs,
    host,
    random: random.stream('tls'),
  });
  return { identity: { ...own, ...callers }, ...rest };
}

async function makeIdentity(
  { names: chosen = [], caKeepFile, brokenTls = false, keyType = 'rsa' }: TlsSettings,
  { nowMs, host, random }: { nowMs: number; host: string; random: Random },
): Promise<PreparedTls & { caPem: string }> {
  const [authority, key] = await Promise.all([
    caKeepFile === undefined
      ? createAuthority(title, { nowMs, random })
      : keptAuthority(caKeepFile, { nowMs, random, title }),
    keyType === 'ec' ? freshServerEcKey() : freshSigningKey(),
  ]);
  const names = servedNames(chosen, host);
  const cert = authority.issue({
    purpose: 'server',
    commonName: 'Fleetbed test server',
    names,
    validity: longValidity(nowMs),
    key,
  });
  // Broken TLS has a self-signed certificate, which requires an RSA key.
  const brokenKey = 'spki' in key.forged ? await freshSigningKey() : { ...key, forged: key.forged };
  return {
    identity: { key: key.pem, cert },
    caPem: authority.certificatePem,
    ...(brokenTls && {
      brokenTls: await makeBrokenTls({ authority, key: brokenKey, names, nowMs, random }),
    }),
  };
}

/**
 * Returns every name under which clients may reach the server: configured names, loopback, and the
 * listening address.
 */
export function servedNames(chosen: readonly string[], host: string): readonly string[] {
  const all = [...chosen, 'localhost', '127.0.0.1', '::1', host].map(canonicalName);
  return [...new Set(all.filter((name) => name !== undefined))];
}
