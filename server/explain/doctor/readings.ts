/**
 * Decodes the text of a signature in several ways. Recognizes errors in encoding, as opposed to
 * errors in signing.
 * Spec: Device authentication (signature format)
 */
import type { KeyType } from '../../../fixtures/contract/vocabulary.ts';
import type { CauseText } from './diagnosis.ts';
import {
  byteReversed,
  pairInSequence,
  pairSideBySide,
  type SignaturePair,
  sequenceAt,
  sequenceOf,
} from './p256.ts';
import { ED25519_BYTES } from './schemes.ts';

/** One possible decoding of a signature text. */
export interface SignatureDecoding {
  /** The signature in the format that the contract requires. */
  readonly bytes: Buffer;
  /** IDs of the causes that this decoding assumes; empty for the contract's own form. */
  readonly causes: readonly string[];
}

/** A cause in the encoding, and the key types that it applies to. */
export interface EncodingCause extends CauseText {
  readonly keyTypes: readonly KeyType[];
}

const all: readonly KeyType[] = ['rsa', 'ecdsa', 'ed25519'];

/** Every known cause in how a signature is encoded. */
export const encodingCauses = {
  hex: {
    id: 'hex',
    keyTypes: all,
    sentence: 'The signature is written in hexadecimal.',
    remedy: 'Send the same bytes in standard base64 with padding, as `base64 -w0` writes them.',
  },
  base64Twice: {
    id: 'base64-twice',
    keyTypes: all,
    sentence: 'The signature was base64-encoded twice.',
    remedy: 'Encode the bytes once; many libraries already return base64.',
  },
  wrapped: {
    id: 'wrapped-base64',
    keyTypes: all,
    sentence: 'The base64 text contains white space, for example line breaks.',
    remedy: 'Write it on one line: `base64 -w0`, `openssl base64 -A`, or an encoder without MIME.',
  },
  base64url: {
    id: 'base64url',
    keyTypes: all,
    sentence: 'The signature is in the URL-safe base64 alphabet, with - and _.',
    remedy: 'Use the standard alphabet, with + and /, and pad with =.',
  },
  padding: {
    id: 'base64-padding',
    keyTypes: all,
    sentence: 'The base64 text has missing or excess padding at its end.',
    remedy: 'Pad with = up to a multiple of four characters.',
  },
  around: {
    id: 'more-than-the-signature',
    keyTypes: all,
    sentence: 'The header has more than the base64 of the signature, such as quotes or a prefix.',
    remedy: "Send the base64 alone: no quotes, no name of an algorithm, no file name, no `b'…'`.",
  },
  escaped: {
    id: 'escaped-base64',
    keyTypes: all,
    sentence: 'The base64 text is escaped, as for a URL or in JSON.',
    remedy: 'Send the text of the encoder as it is: a header needs no escapes.',
  },
  plusAsSpace: {
    id: 'plus-as-space',
    keyTypes: all,
    sentence: 'Each + of the base64 text has become a space, as when a form is decoded.',
    remedy: 'Do not decode the text as a form or URL; send it as the encoder wrote it.',
  },
  surplus: {
    id: 'bytes-beside-the-signature',
    keyTypes: all,
    sentence: 'There are other bytes before or behind those of the signature.',
    remedy:
      'Send as many bytes as the signing function reports; of a signed message the signature alone.',
  },
  reverseBytes: {
    id: 'little-endian',
    keyTypes: all,
    sentence: 'The bytes of the signature are in reverse (little-endian) order.',
    remedy: 'Reverse each number into big-endian order, as Windows CryptoAPI and some chips need.',
  },
  sideBySide: {
    id: 'raw-r-s',
    keyTypes: ['ecdsa'],
    sentence: 'The signature is r and s concatenated in 64 bytes (IEEE P1363).',
    remedy: 'Encode them as an ASN.1 SEQUENCE of two INTEGERs, the DER form of ANSI X9.62.',
  },
  looseSequence: {
    id: 'loose-sequence',
    keyTypes: ['ecdsa'],
    sentence: 'The ASN.1 SEQUENCE is not DER: r or s has too many or too few leading zero bytes.',
    remedy:
      'Write each INTEGER in the fewest bytes, with one zero byte in front if the top bit is set.',
  },
  swapPair: {
    id: 'r-s-swapped',
    keyTypes: ['ecdsa', 'ed25519'],
    sentence: 'The two halves of the signature are swapped: s comes before r.',
    remedy: 'Write r (Ed25519: R) first, then s.',
  },
} as const satisfies Readonly<Record<string, EncodingCause>>;

/**
 * Maximum length of an examined text. A signature of an 8192-bit key has 1024 bytes; the rest is
 * room for hexadecimal and white space.
 */
const TEXT_MAX_CHARACTERS = 16_384;

/** Returns every decoding of the text for a key of this type, the contract's own form first. */
export function readingsOf(text: string, keyType: KeyType): SignatureDecoding[] {
  if (text.length > TEXT_MAX_CHARACTERS) return [];
  return textsIn(text).flatMap((one) => {
    const readings = textReadings(one.text).flatMap((reading) => formReadings[keyType](reading));
    return readings.map(({ bytes, causes }) => ({
      bytes,
      causes: [...one.causes, ...causes],
    }));
  });
}

/** Returns the text, and the texts that it may have been before it was wrapped or escaped. */
function textsIn(text: string): { readonly text: string; readonly causes: readonly string[] }[] {
  const { around, escaped, plusAsSpace } = encodingCauses;
  const texts = [{ text, causes: [] as readonly string[] }];
  if (/^[A-Za-z0-9+/]+(?: [A-Za-z0-9+/]*)+={0,2}$/.test(text)) {
    texts.push({ text: text.replaceAll(' ', '+'), causes: [plusAsSpace.id] });
  }
  const unescapedText = unescapeText(text);
  if (unescapedText !== text) texts.push({ text: unescapedText, causes: [escaped.id] });
  for (const { text: fullText, causes } of [...texts]) {
    const inner = longestRun(fullText);
    if (inner === undefined) continue;
    texts.push({ text: inner, causes: [around.id, ...causes] });
  }
  return texts;
}

/** Returns the text without the escapes of URLs, JSON and HTML. */
function unescapeText(text: string): string {
  return text
    .replace(/%([0-9a-f]{2})|\\u00([0-9a-f]{2})|&#x([0-9a-f]{2});/gi, (_, ...codes: string[]) => {
      const code = codes.slice(0, 3).find((one) => one !== undefined) ?? '';
      return String.fromCharCode(Number.parseInt(code, 16));
    })
    .replace(/\\[nr]/g, '')
    .replace(/\\([/+=])/g, '$1');
}

/** A run of characters shorter than this is not the base64 text of a signature. */
const RUN_MIN_CHARACTERS = 80;

/**
 * Returns the only long run of base64 or hexadecimal within other text; undefined if there is none,
 * several, or no other text.
 */
function longestRun(text: string): string | undefined {
  const runs = text.match(/[A-Za-z0-9+/_-]+={0,2}/g) ?? [];
  const longest = runs.reduce((one, other) => (other.length > one.length ? other : one), '');
  if (longest.length < RUN_MIN_CHARACTERS || longest === text.trim()) return undefined;
  return runs.filter((run) => run.length >= RUN_MIN_CHARACTERS).length > 1 ? undefined : longest;
}

/** Returns the bytes that the text encodes, in any known encoding; undefined if there are none. */
export function bytesIn(text: string): Buffer | undefined {
  if (text.length > TEXT_MAX_CHARACTERS) return undefined;
  for (const { text: one } of textsIn(text)) {
    const [hex] = hexReading(one);
    const reading = hex ?? base64Reading(one);
    if (reading) return reading.bytes;
    // Base64 that was cut off within a group of four characters.
    if (/^[A-Za-z0-9+/]+$/.test(one)) return Buffer.from(one, 'base64');
  }
  return undefined;
}

function textReadings(text: string): SignatureDecoding[] {
  const reading = base64Reading(text);
  if (!reading) return hexReading(text);
  const inner = base64Reading(reading.bytes.toString('latin1'));
  const { base64Twice } = encodingCauses;
  const twice = inner && {
    bytes: inner.bytes,
    causes: [base64Twice.id, ...reading.causes, ...inner.causes],
  };
  return [reading, ...hexReading(text), ...(twice ? [twice] : [])];
}

function base64Reading(text: string): SignatureDecoding | undefined {
  const compact = text.replace(/\s+/g, '');
  const standard = compact.replaceAll('-', '+').replaceAll('_', '/');
  const unpadded = standard.replace(/={1,4}$/, '');
  if (!/^[A-Za-z0-9+/]+$/.test(unpadded) || unpadded.length % 4 === 1) return undefined;
  const { wrapped, base64url, padding } = encodingCauses;
  const isPadded = standard === unpadded + '='.repeat((4 - (unpadded.length % 4)) % 4);
  const causes = [
    ...(compact === text ? [] : [wrapped.id]),
    ...(compact === standard ? [] : [base64url.id]),
    // The base64url alphabet is usually written without padding, so missing padding is not a
    // separate cause there.
    ...(isPadded || compact !== standard ? [] : [padding.id]),
  ];
  return { bytes: Buffer.from(unpadded, 'base64'), causes };
}

function hexReading(text: string): SignatureDecoding[] {
  const digits = text.replace(/^0x/i, '').replace(/[\s:]+/g, '');
  if (digits.length % 2 === 1 || !/^[0-9a-f]+$/i.test(digits)) return [];
  return [{ bytes: Buffer.from(digits, 'hex'), causes: [encodingCauses.hex.id] }];
}

/** Length of r followed by s in bytes. */
const PAIR_BYTES = 64;
/** Lengths in bytes of the RSA keys that devices use. */
const rsaBytes = [128, 192, 256, 384, 512, 768, 1024];

const formReadings: Readonly<Record<KeyType, (reading: SignatureDecoding) => SignatureDecoding[]>> =
  {
    rsa: (reading) => [
      reading,
      reverseDecoding(reading),
      ...rsaBytes.flatMap((length) => partsOf(reading, length)),
    ],
    ecdsa: (reading) => {
      const { bytes, causes } = reading;
      const sequence = pairInSequence(bytes);
      if (sequence) {
        const strict = sequenceOf(sequence);
        const isStrict = strict.equals(bytes);
        const loose = isStrict ? causes : [...causes, encodingCauses.looseSequence.id];
        return [
          { bytes: strict, causes: loose },
          swapHalves(sequence, loose),
          littleEndian(sequence, loose),
        ];
      }
      const start = sequenceAt(bytes);
      const surplus = start ? formReadings.ecdsa(withoutSurplus(reading, start)) : [];
      const pair = pairSideBySide(bytes);
      if (!pair) {
        const pairs = start ? [] : partsOf(reading, PAIR_BYTES);
        return [...surplus, ...pairs.flatMap((part) => formReadings.ecdsa(part)), reading];
      }
      const raw = [...causes, encodingCauses.sideBySide.id];
      // The unchanged bytes come last: another device may have signed with another key type.
      return [
        { bytes: sequenceOf(pair), causes: raw },
        swapHalves(pair, raw),
        littleEndian(pair, raw),
        littleEndian({ r: pair.s, s: pair.r }, raw),
        reading,
      ];
    },
    ed25519: (reading) => {
      const { bytes, causes } = reading;
      if (bytes.length !== ED25519_BYTES) return [reading, ...partsOf(reading, ED25519_BYTES)];
      const [first, second] = [bytes.subarray(0, 32), bytes.subarray(32)];
      const halves = Buffer.concat([second, first]);
      const reversedHalves = Buffer.concat([
        Buffer.from(first).reverse(),
        Buffer.from(second).reverse(),
      ]);
      return [
        reading,
        { bytes: halves, causes: [...causes, encodingCauses.swapPair.id] },
        reverseDecoding(reading),
        { bytes: reversedHalves, causes: [...causes, encodingCauses.reverseBytes.id] },
      ];
    },
  };

/** Returns the first and the last `length` bytes of a longer decoding. */
function partsOf(reading: SignatureDecoding, length: number): SignatureDecoding[] {
  const { bytes } = reading;
  if (bytes.length <= length) return [];
  return [bytes.subarray(0, length), bytes.subarray(-length)].map((part) =>
    withoutSurplus(reading, part),
  );
}

function withoutSurplus({ causes }: SignatureDecoding, bytes: Buffer): SignatureDecoding {
  return { bytes, causes: [...causes, encodingCauses.surplus.id] };
}

function reverseDecoding({ bytes, causes }: SignatureDecoding): SignatureDecoding {
  return {
    bytes: Buffer.from(bytes).reverse(),
    causes: [...causes, encodingCauses.reverseBytes.id],
  };
}

function littleEndian({ r, s }: SignaturePair, causes: readonly string[]): SignatureDecoding {
  const bytes = sequenceOf({ r: byteReversed(r), s: byteReversed(s) });
  return { bytes, causes: [...causes, encodingCauses.reverseBytes.id] };
}

function swapHalves({ r, s }: SignaturePair, causes: readonly string[]): SignatureDecoding {
  const bytes = sequenceOf({ r: s, s: r });
  return { bytes, causes: [...causes, encodingCauses.swapPair.id] };
}
