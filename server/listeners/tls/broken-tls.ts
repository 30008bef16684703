/**
 * Listeners with faulty TLS, one for each fault. A client that accepts the fault is recognized by
 * the requests it sends.
 */
import type { Random } from '../../../fixtures/base/random.ts';
import {
  type Authority,
  type AuthorityKey,
  type CertificateToIssue,
  createAuthority,
  longValidity,
  outsideValidity,
  selfSigned,
} from './authority.ts';
import type { TlsIdentity } from './identity.ts';

/** The faults, one for each listener, in display order. */
export const tlsDefects = [
  'expired',
  'notYetValid',
  'wrongHost',
  'unknownCa',
  'selfSigned',
  'oldProtocol',
] as const;
export type TlsDefect = (typeof tlsDefects)[number];

/** RFC 6761 reserves this domain, so no client can reach the server under this name. */
const strangeName = 'wrong-host.invalid';

/** Inputs of the broken certificates. Used unchanged they make a valid certificate. */
interface Materials {
  readonly authority: Authority;
  readonly key: AuthorityKey;
  readonly names: readonly string[];
  readonly nowMs: number;
  readonly random: Random;
}

/** Creates one identity for each fault; apart from that fault each is valid. */
export async function makeBrokenTls(
  materials: Materials,
): Promise<Readonly<Record<TlsDefect, TlsIdentity>>> {
  const { authority, key, names, nowMs, random } = materials;
  const unknownCa = await createAuthority('Fleetbed unknown CA', { nowMs, random });
  const inOrder: CertificateToIssue = {
    purpose: 'server',
    commonName: 'Fleetbed broken TLS',
    names,
    validity: longValidity(nowMs),
    key,
  };
  const identityOf = (cert: string): TlsIdentity => ({ key: key.pem, cert });
  const outsideDates = (side: 'before' | 'after') => ({
    ...inOrder,
    validity: outsideValidity(nowMs, side),
  });
  return {
    expired: identityOf(authority.issue(outsideDates('before'))),
    notYetValid: identityOf(authority.issue(outsideDates('after'))),
    wrongHost: identityOf(authority.issue({ ...inOrder, names: [strangeName] })),
    unknownCa: identityOf(unknownCa.issue(inOrder)),
    selfSigned: identityOf(selfSigned(inOrder, random)),
    oldProtocol: { ...identityOf(authority.issue(inOrder)), ...oldProtocol },
  };
}

/** TLS 1.0 and 1.1 use SHA-1 and MD5, which OpenSSL 3 permits only at its lowest security level. */
const oldProtocol = {
  minVersion: 'TLSv1',
  maxVersion: 'TLSv1.1',
  ciphers: 'DEFAULT@SECLEVEL=0',
} as const;
