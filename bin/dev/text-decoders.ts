/**
 * The part of `iconv-lite` that the reader of bodies uses, implemented with the platform's decoders.
 * It replaces that package in the bundle, whose tables of a hundred encodings slow down every start.
 */

interface Decoder {
  write(bytes: Uint8Array): string;
  end(): string;
}

/** Decodes piece by piece. @throws Error with the message by which the reader knows the cause */
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

/** Decodes a whole text; throws as `getDecoder` does. */
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
