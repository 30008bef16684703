/** Diagnoses why a string is not accepted as a public key. Spec: AuthRequest (pubkey) */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { isObject, parsedJson } from '../../../fixtures/base/json.ts';
import { readPublicKey } from '../../crypto/public-key.ts';
import { type CauseText, type Diagnosis, diagnosisOf } from './diagnosis.ts';

/** The properties of a key's text that the rows examine. */
interface KeyText {
  readonly text: string;
  /** Label of the only PEM block in the text. */
  readonly label: string | undefined;
  readonly der: Buffer | undefined;
  /** The key in the block, if it is SubjectPublicKeyInfo. */
  readonly key: KeyObject | undefined;
}

/** A cause for which a key is invalid, and the test that recognizes it. */
interface KeyCause extends CauseText {
  /** Returns true if the key is invalid for this cause, or a string that names its variant. */
  readonly fits: (key: KeyText) => boolean | string;
}

const TEXT_MAX_CHARACTERS = 16_384;
/** Matches anywhere in the text, because such files often begin with the parameters of a curve. */
const privateBlock = /-----BEGIN ([A-Z0-9 ]{0,30}PRIVATE KEY)-----/;
const takePublic = '`openssl pkey -in KEY -pubout` writes it as "PUBLIC KEY".';
const oneLine = /^-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/= ]+)-----END PUBLIC KEY-----$/;
/** Matches a block without an END line or with incomplete content. */
const pemStart = /^-----BEGIN ([A-Z0-9 ]*)-----\s*([A-Za-z0-9+/=\s]*)/;
const takenKeys = 'Use RSA of 1024 to 8192 bits, ECDSA P-256 or Ed25519.';

/** Every known cause for an invalid key. At most one row fits a key. */
export const keyCauses: readonly KeyCause[] = [
  {
    id: 'private-key',
    sentence: 'It is a private key, which must never leave the device.',
    remedy: `Send the public key; ${takePublic} If this key was sent anywhere, generate a new one.`,
    fits: ({ text, label, der }) => {
      const privateText = privateBlock.exec(text)?.[1];
      if (privateText !== undefined) return privateText;
      return label === 'PUBLIC KEY' && der !== undefined && isPrivate(der) && 'as PUBLIC KEY';
    },
  },
  {
    id: 'pkcs1-public-key',
    sentence: 'It is an RSA key in PKCS#1.',
    remedy:
      'Send SubjectPublicKeyInfo: `openssl rsa -RSAPublicKey_in -in KEY -pubout` converts it.',
    fits: ({ label, der }) => {
      if (label === 'RSA PUBLIC KEY') return label;
      return label === 'PUBLIC KEY' && der !== undefined && isPkcs1(der) && 'as PUBLIC KEY';
    },
  },
  {
    id: 'certificate',
    sentence: 'It is a certificate or a certificate request, not a key.',
    remedy: 'Extract the key: `openssl x509 -in FILE -pubkey -noout`.',
    fits: ({ label }) =>
      label !== undefined && /^(X509 |TRUSTED |NEW )?CERTIFICATE( REQUEST)?$/.test(label) && label,
  },
  {
    id: 'openssh-key',
    sentence: 'It is a public key in OpenSSH format.',
    remedy: 'Convert it: `ssh-keygen -e -m PKCS8 -f KEY.pub`.',
    fits: ({ text, label }) =>
      /^(ssh-|ecdsa-sha2-|---- BEGIN SSH2)/.test(text) || label === 'SSH2 PUBLIC KEY',
  },
  {
    id: 'escaped-line-breaks',
    sentence: 'The line breaks of the PEM text are the two characters \\n.',
    remedy: 'Let the JSON encoder escape the text; do not escape it before.',
    fits: ({ text }) => text.includes('\\n') && isTaken(text.replace(/(\\r)?\\n/g, '\n')),
  },
  {
    id: 'no-line-breaks',
    sentence: 'The PEM text has lost its line breaks.',
    remedy: 'Keep the line breaks of the PEM file: in JSON each one is written as \\n.',
    fits: ({ text }) => {
      const [, base64] = oneLine.exec(text) ?? [];
      return base64 !== undefined && isTaken(block(base64));
    },
  },
  {
    id: 'indented-lines',
    sentence: 'The lines of the PEM text are indented.',
    remedy: 'Begin each line in its first column: a here-document or YAML block keeps its indent.',
    fits: ({ text }) => /\n[ \t]/.test(text) && isTaken(text.replace(/^[ \t]+/gm, '')),
  },
  {
    id: 'plus-as-space',
    sentence: 'Each + of the base64 has become a space, as when a form is decoded.',
    remedy: 'Do not decode the text as a form or URL; send the PEM text as it is in its file.',
    fits: ({ text, label }) =>
      label === 'PUBLIC KEY' &&
      isTaken(text.replace(/^[^-].*$/gm, (line) => line.trimEnd().replaceAll(' ', '+'))),
  },
  {
    id: 'damaged-pem-lines',
    sentence: 'The BEGIN or END line of the PEM text is not written as it must be.',
    remedy:
      'Write -----BEGIN PUBLIC KEY----- and -----END PUBLIC KEY-----, with five hyphens each.',
    fits: ({ text, label }) => {
      const line = /^[-\u2010-\u2015 ]*(?:BEGIN|END) PUBLIC KEY[-\u2010-\u2015 ]*$/gim;
      const bareText = text.replace(line, '').trim();
      return label === undefined && bareText !== text && isTaken(block(bareText));
    },
  },
  {
    id: 'cut-off',
    sentence: 'The key is cut off: its end is missing.',
    remedy:
      'Send the whole text up to -----END PUBLIC KEY-----; make the buffer as long as the file.',
    fits: ({ text }) => {
      const [, label, base64 = ''] = pemStart.exec(text) ?? [];
      if (label !== 'PUBLIC KEY') return false;
      const der = Buffer.from(base64, 'base64');
      const fullLength = lengthOf(der);
      const hasGaps = /\S \S/.test(base64);
      if (fullLength === undefined || der.length >= fullLength || hasGaps) return false;
      return `after ${text.length} characters: ${der.length} of the ${fullLength} bytes of the key`;
    },
  },
  {
    id: 'no-pem-lines',
    sentence: 'It is the bare base64 of a key, without the BEGIN and END lines of PEM.',
    remedy: 'Put it between -----BEGIN PUBLIC KEY----- and -----END PUBLIC KEY-----.',
    fits: ({ text }) => /^[A-Za-z0-9+/=\s]+$/.test(text) && isTaken(block(text)),
  },
  {
    id: 'jwk',
    sentence: 'It is a JSON Web Key.',
    remedy: 'Send the same key as SubjectPublicKeyInfo in PEM.',
    fits: ({ text }) => text.startsWith('{') && isJwk(text),
  },
  {
    id: 'more-than-the-key',
    sentence: 'The text contains more than the PEM block of the key.',
    remedy: 'Send only the block from BEGIN PUBLIC KEY to END PUBLIC KEY.',
    fits: ({ text, label }) => {
      const pemMatch = /-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----/.exec(
        text,
      );
      const hasOwnCause = label !== undefined || privateBlock.test(text);
      return !hasOwnCause && pemMatch !== null && isTaken(pemMatch[0]);
    },
  },
  {
    id: 'wrong-label',
    sentence: 'The PEM block has a supported key but the wrong label.',
    remedy: 'Label the block PUBLIC KEY.',
    fits: ({ label, der }) => {
      const hasOwnCause = label === 'PUBLIC KEY' || label?.endsWith('PRIVATE KEY');
      if (label === undefined || der === undefined || hasOwnCause) return false;
      return isTaken(block(der.toString('base64'))) && label;
    },
  },
  {
    id: 'other-curve',
    sentence: 'The key is on a curve other than P-256 and Ed25519.',
    remedy: takenKeys,
    fits: ({ key }) => {
      const type = key?.asymmetricKeyType;
      const name = key?.asymmetricKeyDetails?.namedCurve;
      if (type === 'ec') return name !== 'prime256v1' && (name ?? 'an unnamed curve');
      return type === 'ed448' && type;
    },
  },
  {
    id: 'key-for-agreement',
    sentence: 'The key is for key agreement and cannot sign.',
    remedy: takenKeys,
    fits: ({ key }) => matchingType(key, ['x25519', 'x448', 'dh']),
  },
  {
    id: 'key-for-pss',
    sentence: 'The RSA key is restricted to PSS.',
    remedy: 'Generate a key with `-algorithm RSA`, and sign with PKCS#1 v1.5 padding.',
    fits: ({ key }) => key?.asymmetricKeyType === 'rsa-pss',
  },
  {
    id: 'dsa-key',
    sentence: 'The key is a DSA key.',
    remedy: takenKeys,
    fits: ({ key }) => key?.asymmetricKeyType === 'dsa',
  },
  {
    id: 'rsa-key-size',
    sentence: 'The RSA key is too short or too long.',
    remedy: takenKeys,
    fits: ({ key }) =>
      key?.asymmetricKeyType === 'rsa' && `${key.asymmetricKeyDetails?.modulusLength ?? 0} bits`,
  },
];

/**
 * Returns the cause that makes the text unusable as a key; undefined if the key is accepted, or
 * if no known cause explains the problem. Never throws.
 * Spec: AuthRequest (pubkey)
 */
export function diagnoseKey(text: string): Diagnosis | undefined {
  if (text.length > TEXT_MAX_CHARACTERS || isTaken(text)) return undefined;
  const key = keyTextOf(text.trim());
  for (const row of keyCauses) {
    const evidence = row.fits(key);
    if (evidence !== false)
      return diagnosisOf(row, { detail: evidence === true ? undefined : evidence });
  }
  return undefined;
}

/** Returns the properties of a key's text that the rows examine. */
export function keyTextOf(text: string): KeyText {
  const [, label, body] = /^-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----$/.exec(text) ?? [];
  const der = body === undefined ? undefined : Buffer.from(body, 'base64');
  const spki = { key: text, format: 'pem', type: 'spki' } as const;
  const key = label === 'PUBLIC KEY' ? attempt(() => createPublicKey(spki)) : undefined;
  return { text, label, der, key };
}

function isTaken(text: string): boolean {
  return !('reason' in readPublicKey(text));
}

function block(base64: string): string {
  return `-----BEGIN PUBLIC KEY-----\n${base64.trim()}\n-----END PUBLIC KEY-----\n`;
}

/** Returns the total length that the header of a SEQUENCE declares; undefined for other bytes. */
function lengthOf(der: Buffer): number | undefined {
  const [tag, first] = der;
  if (tag !== 0x30 || first === undefined || der.length < 4) return undefined;
  if (first < 0x80) return 2 + first;
  const bytes = first & 0x7f;
  return bytes > 2 ? undefined : 2 + bytes + der.readUIntBE(2, bytes);
}

function isPrivate(der: Buffer): boolean {
  const forms = ['pkcs8', 'pkcs1', 'sec1'] as const;
  return forms.some(
    (type) => attempt(() => createPrivateKey({ key: der, format: 'der', type })) !== undefined,
  );
}

/**
 * Returns true for a public key in PKCS#1. OpenSSL reads private keys here too, and returns their
 * public half.
 */
function isPkcs1(der: Buffer): boolean {
  const publicKey = attempt(() => createPublicKey({ key: der, format: 'der', type: 'pkcs1' }));
  return publicKey !== undefined && !isPrivate(der);
}

function isJwk(text: string): boolean {
  const value = parsedJson(text);
  return isObject(value) && Object.hasOwn(value, 'kty');
}

function matchingType(key: KeyObject | undefined, types: readonly string[]): string | false {
  const type = key?.asymmetricKeyType;
  return type !== undefined && types.includes(type) && type;
}

/** Returns undefined if decoding throws, which means that the bytes have another form. */
function attempt<Value>(decode: () => Value): Value | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
