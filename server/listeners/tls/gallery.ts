/** Every way in which TLS can be wrong, one listener each: a client that goes on is seen by its calls. */
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

/** What is wrong behind a listener of the gallery, in the order in which they are told. */
export const galleryMembers = [
  'expired',
  'notYetValid',
  'wrongHost',
  'unknownCa',
  'selfSigned',
  'oldProtocol',
] as const;
export type GalleryMember = (typeof galleryMembers)[number];

/** Reserved by RFC 6761: no client can have come by it. */
const strangeName = 'wrong-host.invalid';

/** What the gallery is made from: all of it would be in order for the server itself. */
interface Materials {
  readonly authority: Authority;
  readonly key: SigningKey;
  readonly names: readonly string[];
  readonly nowMs: number;
  readonly random: Random;
}

/** The members with one fault each, everything else being in order. */
export async function makeGallery(
  materials: Materials,
): Promise<Readonly<Record<GalleryMember, TlsIdentity>>> {
  const { authority, key, names, nowMs, random } = materials;
  const stranger = await createAuthority('Fleetbed unknown CA', { nowMs, random });
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
    unknownCa: shown(stranger.issue(inOrder)),
    selfSigned: shown(selfSigned(inOrder, random)),
    oldProtocol: { ...shown(authority.issue(inOrder)), ...oldProtocol },
  };
}

/** OpenSSL 3 speaks TLS 1.0 and 1.1, whose digests are SHA-1 and MD5, at its lowest level only. */
const oldProtocol = {
  minVersion: 'TLSv1',
  maxVersion: 'TLSv1.1',
  ciphers: 'DEFAULT@SECLEVEL=0',
} as const;
