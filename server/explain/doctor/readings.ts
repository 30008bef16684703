/**
 * Other readings of the text of a signature: mistakes of encoding it, apart from what was signed.
 * Spec: Device authentication (signature format)
 */
import type { KeyType } from '../../../fixtures/contract/vocabulary.ts';
import type { MistakeWords } from './diagnosis.ts';
import { pairInSequence, pairSideBySide, type SignaturePair, sequenceOf } from './p256.ts';

/** Bytes that the text may mean. */
export interface Reading {
  /** In the form that the contract requires. */
  readonly bytes: Buffer;
  /** Ids of the rows that were needed to read it so; none for the contract's own form. */
  readonly mistakes: readonly string[];
}

/** A mistake of encoding, and the key types that it applies to. */
export interface WritingMistake extends MistakeWords {
  readonly keyTypes: readonly KeyType[];
}

const all: readonly KeyType[] = ['rsa', 'ecdsa', 'ed25519'];

/** Every known mistake in how a signature is encoded. */
export const writingMistakes = {
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
  swapped: {
    id: 'r-s-swapped',
    keyTypes: ['ecdsa', 'ed25519'],
    sentence: 'The two halves of the signature are swapped: s comes before r.',
    remedy: 'Write r (Ed25519: R) first, then s.',
  },
} as const satisfies Readonly<Record<string, WritingMistake>>;

/** A signature of 8192 bits has 2048 bytes; the rest is room for hexadecimal and white space. */
const TEXT_MAX_CHARACTERS = 16_384;

/** Everything that the text may mean for a key of this type, the contract's own form first. */
export function readingsOf(text: string, keyType: KeyType): Reading[] {
  if (text.length > TEXT_MAX_CHARACTERS) return [];
  return textReadings(text).flatMap((reading) => formReadings[keyType](reading));
}

function textReadings(text: string): Reading[] {
  const plain = base64Reading(text);
  if (!plain) return hexReading(text);
  const inner = base64Reading(plain.bytes.toString('latin1'));
  const { base64Twice } = writingMistakes;
  const twice = inner && {
    bytes: inner.bytes,
    mistakes: [base64Twice.id, ...plain.mistakes, ...inner.mistakes],
  };
  return [plain, ...hexReading(text), ...(twice ? [twice] : [])];
}

function base64Reading(text: string): Reading | undefined {
  const compact = text.replace(/\s+/g, '');
  const standard = compact.replaceAll('-', '+').replaceAll('_', '/');
  const bare = standard.replace(/={1,4}$/, '');
  if (!/^[A-Za-z0-9+/]+$/.test(bare) || bare.length % 4 === 1) return undefined;
  const { wrapped, base64url, padding } = writingMistakes;
  const isPadded = standard === bare + '='.repeat((4 - (bare.length % 4)) % 4);
  const mistakes = [
    ...(compact === text ? [] : [wrapped.id]),
    ...(compact === standard ? [] : [base64url.id]),
    // The URL alphabet comes without padding by custom, so that is no mistake of its own.
    ...(isPadded || compact !== standard ? [] : [padding.id]),
  ];
  return { bytes: Buffer.from(bare, 'base64'), mistakes };
}

function hexReading(text: string): Reading[] {
  const digits = text.replace(/^0x/i, '').replace(/[\s:]+/g, '');
  if (digits.length % 2 === 1 || !/^[0-9a-f]+$/i.test(digits)) return [];
  return [{ bytes: Buffer.from(digits, 'hex'), mistakes: [writingMistakes.hex.id] }];
}

const formReadings: Readonly<Record<KeyType, (reading: Reading) => Reading[]>> = {
  rsa: (reading) => [reading],
  ecdsa: (reading) => {
    const { bytes, mistakes } = reading;
    const sequence = pairInSequence(bytes);
    if (sequence) {
      const strict = sequenceOf(sequence);
      const isStrict = strict.equals(bytes);
      const loose = isStrict ? mistakes : [...mistakes, writingMistakes.looseSequence.id];
      return [{ bytes: strict, mistakes: loose }, swapped(sequence, loose)];
    }
    const pair = pairSideBySide(bytes);
    if (!pair) return [reading];
    const raw = [...mistakes, writingMistakes.sideBySide.id];
    // Last as they are: they may be a signature of another key type, by another device.
    return [{ bytes: sequenceOf(pair), mistakes: raw }, swapped(pair, raw), reading];
  },
  ed25519: (reading) => {
    const { bytes, mistakes } = reading;
    if (bytes.length !== 64) return [reading];
    const halves = Buffer.concat([bytes.subarray(32), bytes.subarray(0, 32)]);
    return [reading, { bytes: halves, mistakes: [...mistakes, writingMistakes.swapped.id] }];
  },
};

function swapped({ r, s }: SignaturePair, mistakes: readonly string[]): Reading {
  const bytes = sequenceOf({ r: s, s: r });
  return { bytes, mistakes: [...mistakes, writingMistakes.swapped.id] };
}
