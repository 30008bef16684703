import { describe, expect, it } from 'vitest';
import { decode, encodingExists, getDecoder } from './text-decoders.ts';

describe('text that is decoded from bytes', () => {
  it('is decoded correctly when pieces end within a character', () => {
    const decoder = getDecoder('utf-8');
    const bytes = Buffer.from('a €');
    expect(decoder.write(bytes.subarray(0, 3)) + decoder.write(bytes.subarray(3))).toBe('a €');
    expect(decoder.end()).toBe('');
  });

  it('ends with a replacement character when its last character is incomplete', () => {
    expect(decode(Buffer.from('€').subarray(0, 2), 'utf-8')).toBe('\ufffd');
  });

  it.each([
    ['utf-8', [0xef, 0xbb, 0xbf, 0x61], 'a'],
    ['UTF-16LE', [0x61, 0, 0xac, 0x20], 'a€'],
    ['iso-8859-1', [0xe9], 'é'],
  ] as const)('is read in the encoding %s', (encoding, bytes, text) => {
    expect(encodingExists(encoding)).toBe(true);
    expect(decode(Uint8Array.from(bytes), encoding)).toBe(text);
  });
});

it('an unknown encoding causes the error message that the body reader expects', () => {
  expect(encodingExists('klingon')).toBe(false);
  expect(() => getDecoder('klingon')).toThrow(/^Encoding not recognized: /);
});
