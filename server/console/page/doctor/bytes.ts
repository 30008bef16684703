/** Bytes of PEM, base64, hexadecimal and DER. */

/** The bytes of a text with one character a byte. */
export function bytesOf(binary: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** The bytes between the lines of PEM. @throws Error with a sentence when there are none */
export function pemBytes(pem: string, label: string): Uint8Array<ArrayBuffer> {
  const [begin, end] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`];
  const from = pem.indexOf(begin);
  const to = pem.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`the key has no lines BEGIN ${label} and END ${label}`);
  const inner = pem.slice(from + begin.length, to);
  const bytes = base64Bytes(inner.replace(/\s/g, ''));
  if (!bytes) throw new Error('what stands between the lines of the key is no base64');
  return bytes;
}

/** The bytes of base64; undefined for any other text. */
export function base64Bytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  try {
    return bytesOf(atob(text));
  } catch {
    return undefined;
  }
}

/** The bytes of hexadecimal digits; undefined for any other text. */
export function hexBytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^(?:[0-9a-f]{2})+$/i.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

const HALF_BYTES = 32;

/** The two numbers of an ECDSA signature in DER, 32 bytes each; undefined when it is none. */
export function derToRaw(der: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  const raw = new Uint8Array(2 * HALF_BYTES);
  let at = 2;
  for (const end of [HALF_BYTES, 2 * HALF_BYTES]) {
    const length = der[at + 1] ?? 0;
    if (der[at] !== 0x02 || length === 0) return undefined;
    const number = der.subarray(at + 2, at + 2 + length);
    const short = number.length > HALF_BYTES && number[0] === 0 ? number.subarray(1) : number;
    if (number.length !== length || short.length > HALF_BYTES) return undefined;
    raw.set(short, end - short.length);
    at += 2 + length;
  }
  return at === der.length ? raw : undefined;
}

/** The same signature in DER. */
export function rawToDer(raw: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  if (raw.length !== 2 * HALF_BYTES) return undefined;
  const numbers = [raw.subarray(0, HALF_BYTES), raw.subarray(HALF_BYTES)].flatMap((half) => {
    const first = half.findIndex((byte) => byte !== 0);
    const trimmed = [...half.subarray(Math.max(first, 0))];
    const signed = (trimmed[0] ?? 0) > 0x7f ? [0, ...trimmed] : trimmed;
    return [0x02, signed.length, ...signed];
  });
  return Uint8Array.from([0x30, numbers.length, ...numbers]);
}
