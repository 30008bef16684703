/** The user's own device keys: PEM files of a folder, sorted by name. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { plainFile } from '../../fixtures/base/plain-file.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import { type DeviceKey, heldKey } from './device-key.ts';
import { IdentityError, reasonOf } from './identity-error.ts';

/** Maximum number of key files; each key takes a few kilobytes of memory. */
const FILES_MAX = 10_000;
const FILE_MAX_BYTES = 64 * 1024;
const RSA_MIN_BITS = 1024;
const keyFile = /\.(pem|key)$/i;

/**
 * Reads the private keys (PKCS#8, PKCS#1 or SEC1, unencrypted) of all `*.pem` and `*.key` files in
 * a folder, sorted by name.
 * @throws IdentityError that names the file and the problem
 */
export async function readOwnKeys(folder: string): Promise<readonly DeviceKey[]> {
  const names = (await namesIn(folder)).filter((name) => keyFile.test(name)).sort();
  if (names.length === 0) {
    throw new IdentityError(`${folder} contains no key: none of its files ends in .pem or .key.`);
  }
  if (names.length > FILES_MAX) {
    throw new IdentityError(
      `${folder} contains ${names.length} key files, more than ${FILES_MAX}; remove some.`,
    );
  }
  const keys: DeviceKey[] = [];
  for (const name of names) keys.push(await ownKey(join(folder, name)));
  return keys;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    throw new IdentityError(`cannot read the key folder ${folder}: ${reasonOf(error)}.`);
  }
}

async function ownKey(file: string): Promise<DeviceKey> {
  const pem = await textOf(file);
  const [, label = ''] = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(pem) ?? [];
  const refuse = (problem: string): never => {
    throw new IdentityError(`${file} cannot be a device's key: ${problem}.`);
  };
  if (!label.endsWith('PRIVATE KEY')) {
    return refuse(
      label === '' ? 'it is not a PEM file' : `it contains a ${label}, not a private key`,
    );
  }
  if (label.startsWith('ENCRYPTED') || pem.includes('Proc-Type: 4,ENCRYPTED')) {
    return refuse('it is encrypted; decrypt it first, with openssl pkey');
  }
  const key = parsePrivateKey(pem) ?? refuse('it is damaged, or has an unknown format');
  const kind = kindOf(key);
  return typeof kind === 'string' ? heldKey(kind, key) : refuse(kind.problem);
}

async function textOf(file: string): Promise<string> {
  try {
    const { size } = await stat(plainFile(file));
    if (size > FILE_MAX_BYTES) throw new Error(`it is larger than ${FILE_MAX_BYTES} bytes`);
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new IdentityError(`cannot read the key file ${file}: ${reasonOf(error)}.`);
  }
}

function parsePrivateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

/** Returns the contract's key type for a key, or the problem when devices cannot use the key. */
function kindOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject) {
  const { modulusLength = 0, namedCurve } = asymmetricKeyDetails ?? {};
  const kinds: Readonly<Record<string, KeyType | { readonly problem: string }>> = {
    rsa:
      modulusLength < RSA_MIN_BITS
        ? { problem: `RSA with ${modulusLength} bits is too short, the minimum is ${RSA_MIN_BITS}` }
        : 'rsa',
    ec:
      namedCurve === 'prime256v1'
        ? 'ecdsa'
        : { problem: `its curve is ${namedCurve}; devices use P-256` },
    ed25519: 'ed25519',
  };
  const otherKind = {
    problem: `its type is ${asymmetricKeyType}; devices use RSA, P-256 or Ed25519`,
  };
  return kinds[asymmetricKeyType ?? ''] ?? otherKind;
}
