/**
 * The part of `iconv-lite` that the body parser uses, implemented with the platform's decoders. The
 * bundle contains this module instead of the package, whose tables of a hundred encodings slow down
 * every start.
 */

interface Decoder {
  write(bytes: Uint8Array): string;
  end(): string;
}

/**
 * Returns a decoder that accepts text in pieces.
 * @throws Error with the message by which the body parser recognizes an unknown encoding
 */
export function getDecoder(encoding: string): Decoder {
  const decoder = decoderOf(encoding);
  if (!decoder) throw new Error(`Encoding not recognized: '${encoding}'`);
  return {
    write: (bytes) => decoder.decode(bytes, { stream: true }),
    end: () => decoder.decode(),
  };
}

/** True when `getDecoder` accepts the encoding. */
export function encodingExists(encoding: string): boolean {
  return decoderOf(encoding) !== undefined;
}

/** Decodes a whole text. @throws Error like `getDecoder` */
export function decode(bytes: Uint8Array, encoding: string): string {
  const { write, end } = getDecoder(encoding);
  return write(bytes) + end();
}

function decoderOf(encoding: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(encoding);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
