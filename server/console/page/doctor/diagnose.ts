/** Tries a signature that does not fit against the usual mistakes, in the browser alone. */
import forge from 'node-forge';
import { base64Bytes, bytesOf, hexBytes, rawToDer } from './bytes.ts';
import { type Evidence, type Key, readKey } from './verify.ts';

/** What was found: in order, or the mistake with its remedy. */
export interface Finding {
  readonly isRight: boolean;
  readonly keyType?: Key['type'];
  readonly sentence: string;
  readonly remedy?: string;
}

interface Trial {
  readonly mistake: string;
  readonly remedy: string;
  readonly bodies?: (body: Uint8Array) => readonly (Uint8Array | undefined)[];
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Ways in which the signed bytes differ from those that were sent. */
const bodyTrials: readonly Trial[] = [
  {
    mistake: 'A newline at the end was signed, but not sent (or sent, but not signed).',
    remedy: 'Sign exactly the bytes of the body; write them to a file once and use that for both.',
    bodies: (body) => {
      const text = decoder.decode(body);
      return [`${text}\n`, `${text}\r\n`, text.trimEnd()].map((each) => encoder.encode(each));
    },
  },
  {
    mistake: 'Another writing of the same JSON was signed: spaces or line ends differ.',
    remedy: 'Make the JSON once, sign that text, and send that text.',
    bodies: (body) => otherJson(decoder.decode(body)),
  },
  {
    mistake: 'Only a part of the body was signed.',
    remedy: 'Sign the whole body of the request.',
    bodies: (body) => members(decoder.decode(body)),
  },
  {
    mistake: 'The SHA-256 digest of the body was signed as if it were the body.',
    remedy: 'Give the body itself to the signing function; RSA and ECDSA digest it by themselves.',
    bodies: (body) => [digestOf(body), encoder.encode(hexOf(digestOf(body)))],
  },
];

/** How a key of each kind signs. */
const ownScheme: Readonly<Record<Key['type'], string>> = {
  rsa: 'Sign with RSASSA-PKCS1-v1_5 and SHA-256.',
  ecdsa: 'Sign with ECDSA and SHA-256.',
  ed25519: 'Sign with Ed25519, over the body itself.',
};

/** Reads, verifies, and looks for the mistake. Never throws. */
export async function diagnose(evidence: Evidence): Promise<Finding> {
  let key: Key;
  try {
    key = readKey(evidence.pubkey);
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault);
    return { isRight: false, sentence: `The key cannot be read: ${why}.` };
  }
  const found = await search(key, evidence);
  return { keyType: key.type, ...found };
}

async function search(key: Key, { body, signature }: Evidence): Promise<Finding> {
  const readings = readingsOf(signature, key.type);
  if (readings.length === 0) {
    return { isRight: false, sentence: 'The signature is neither base64 nor hexadecimal.' };
  }
  for (const { bytes, mistake, remedy } of readings) {
    if (await fits(key.verify, body, bytes)) {
      if (mistake === undefined) return { isRight: true, sentence: 'The signature fits the body.' };
      return { isRight: false, sentence: mistake, ...(remedy !== undefined && { remedy }) };
    }
  }
  for (const [mistake, verify] of Object.entries(key.others)) {
    for (const { bytes } of readings) {
      if (await fits(verify, body, bytes)) {
        return { isRight: false, sentence: mistake, remedy: ownScheme[key.type] };
      }
    }
  }
  for (const { mistake, remedy, bodies } of bodyTrials) {
    for (const other of bodies?.(body) ?? []) {
      for (const { bytes } of readings) {
        if (other && (await fits(key.verify, other, bytes))) {
          return { isRight: false, sentence: mistake, remedy };
        }
      }
    }
  }
  return {
    isRight: false,
    sentence: 'The signature does not fit this body and key, and no usual mistake explains it.',
    remedy: 'Check that it was made with the private key that belongs to this public key.',
  };
}

async function fits(
  verify: Key['verify'],
  body: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  try {
    return await verify(body, signature);
  } catch {
    // Libraries throw on numbers that no signature has.
    return false;
  }
}

interface Reading {
  readonly bytes: Uint8Array;
  readonly mistake?: string;
  readonly remedy?: string;
}

const useBase64 = 'Write the signature in base64, with the usual alphabet and padding.';

/** The ways in which the text of a signature can be read, the right one first. */
function readingsOf(given: string, type: Key['type']): readonly Reading[] {
  const text = given.replace(/\s/g, '');
  const plain = base64Bytes(text);
  const url = base64Bytes(text.replaceAll('-', '+').replaceAll('_', '/'));
  const twice = plain && base64Bytes(decoder.decode(plain).trim());
  const found: (Reading | undefined)[] = [
    plain && { bytes: plain },
    url && { bytes: url, mistake: 'The signature is in base64url.', remedy: useBase64 },
    reading(hexBytes(text), 'The signature is in hexadecimal.'),
    reading(twice, 'The signature is in base64 twice.'),
  ];
  if (type === 'ecdsa' && plain) {
    const der = rawToDer(plain);
    found.push(
      der && {
        bytes: der,
        mistake: 'The ECDSA signature is the two numbers side by side (IEEE P1363).',
        remedy: 'Write it as an ASN.1 SEQUENCE of R and S, in DER.',
      },
    );
  }
  return found.filter((each) => each !== undefined);
}

function reading(bytes: Uint8Array | undefined, mistake: string): Reading | undefined {
  return bytes && { bytes, mistake, remedy: useBase64 };
}

function otherJson(text: string): readonly Uint8Array[] {
  const value = parsed(text);
  if (value === undefined) return [];
  const texts = [
    JSON.stringify(value),
    JSON.stringify(value, null, 2),
    JSON.stringify(value, null, 4),
    spaced(value),
  ];
  return texts.flatMap((each) => [each, `${each}\n`]).map((each) => encoder.encode(each));
}

/** As Python writes it: a space after each comma and colon. */
function spaced(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  const pairs = Object.entries(value).map(
    ([name, each]) => `${JSON.stringify(name)}: ${spaced(each)}`,
  );
  return `{${pairs.join(', ')}}`;
}

function members(text: string): readonly Uint8Array[] {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value)
    .filter((each) => typeof each === 'string')
    .map((each) => encoder.encode(each));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function digestOf(body: Uint8Array): Uint8Array {
  let binary = '';
  for (const byte of body) binary += String.fromCharCode(byte);
  return bytesOf(forge.md.sha256.create().update(binary).digest().getBytes());
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
