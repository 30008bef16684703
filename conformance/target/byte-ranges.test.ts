import { describe, expect, it } from 'vitest';
import { partsOf } from './byte-ranges.ts';

function answered(text: string, headers: Record<string, string>) {
  const bytes = Buffer.from(text, 'latin1');
  return { status: 206, headers, bytes, text };
}

/** A body with two parts, the second of which contains a binary byte. */
const twoParts = [
  '--cut',
  'Content-Type: application/octet-stream',
  'Content-Range: bytes 0-2/10',
  '',
  'abc',
  '--cut',
  'content-range: bytes 8-9/10',
  '',
  '\u00ff\n',
  '--cut--',
  '',
].join('\r\n');

describe('the parts of a response with status 206', () => {
  it('are the one part that the Content-Range header names', () => {
    const [part] = partsOf(answered('cd', { 'content-range': 'bytes 2-3/*' }));
    expect(part).toEqual({ firstPosition: 2, bytes: Buffer.from('cd') });
  });

  it.each(['multipart/byteranges; boundary=cut', 'Multipart/ByteRanges; a=b; boundary="cut"'])(
    'are several parts for the media type %s',
    (type) => {
      expect(partsOf(answered(twoParts, { 'content-type': type }))).toEqual([
        { firstPosition: 0, bytes: Buffer.from('abc') },
        { firstPosition: 8, bytes: Buffer.from([0xff, 0x0a]) },
      ]);
    },
  );

  it.each([
    ['no header', {}],
    ['another length', { 'content-range': 'bytes 2-4/10' }],
    ['another unit', { 'content-range': 'lines 2-3/10' }],
    ['no boundary in the body', { 'content-type': 'multipart/byteranges; boundary=other' }],
  ])('are refused with %s', (_, headers) => {
    expect(() => partsOf(answered('cd', headers))).toThrow('expected');
  });

  it('are refused when one of several parts lacks its range', () => {
    const type = { 'content-type': 'multipart/byteranges; boundary=cut' };
    const without = twoParts.replace(/content-range: bytes 8-9.*\r\n/, '');
    expect(() => partsOf(answered(without, type))).toThrow('actual none');
  });
});
