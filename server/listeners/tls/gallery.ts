/**
 * Every kind of faulty TLS, one listener each: a client that continues is revealed by its calls.
 */
import type { Random } from '../../../fixtures/random.ts';
import {
  type Authority,
  createAuthority,
  longValidity,
  outsideValidity,
  type SigningKey,
  selfSigned,
  type WantedCertificate,
} from './authority.ts';
import type { TlsIdentity } from './identity.ts';

/** The faults of the gallery's listeners, in display order. */
export const galleryMembers = [
  'expired',
  'notYetValid',
  'wrongHost',
  'unknownCa',
  'selfSigned',
  'oldProtocol',
] as const;
export type GalleryMember = (typeof galleryMembers)[number];

/** Reserved by RFC 6761: no client can have reached it by this name. */
const strangeName = 'wrong-host.invalid';

/** Materials of the gallery, all valid for the server itself. */
interface Materials {
  readonly authority: Authority;
  readonly key: SigningKey;
  readonly names: readonly string[];
  readonly nowMs: number;
  readonly random: Random;
}

/** Creates the members, each with one fault and otherwise valid. */
export async function makeGallery(
  materials: Materials,
): Promise<Readonly<Record<GalleryMember, TlsIdentity>>> {
  const { authority, key, names, nowMs, random } = materials;
  const unknownCa = await createAuthority('Fleetbed unknown CA', { nowMs, random });
  const inOrder: WantedCertificate = {
    purpose: 'server',
    commonName: 'Fleetbed gallery',
    names,
    validity: longValidity(nowMs),
    key,
  };
  const shown = (cert: string): TlsIdentity => ({ key: key.pem, cert });
  const outside = (side: 'before' | 'after') => ({
    ...inOrder,
    validity: outsideValidity(nowMs, side),
  });
  return {
    expired: shown(authority.issue(outside('before'))),
    notYetValid: shown(authority.issue(outside('after'))),
    wrongHost: shown(authority.issue({ ...inOrder, names: [strangeName] })),
    unknownCa: shown(unknownCa.issue(inOrder)),
    selfSigned: shown(selfSigned(inOrder, random)),
    oldProtocol: { ...shown(authority.issue(inOrder)), ...oldProtocol },
  };
}

/**
 * OpenSSL 3 supports TLS 1.0 and 1.1, whose digests are SHA-1 and MD5, only at its lowest security
 * level.
 */
const oldProtocol = {
  minVersion: 'TLSv1',
  maxVersion: 'TLSv1.1',
  ciphers: 'DEFAULT@SECLEVEL=0',
} as const;
