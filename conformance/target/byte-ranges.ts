/**
 * The parts in a 206 response: one, or several in multipart/byteranges. RFC 9110, sections 14 and
 * 15.3.7
 */
import { describeValue, ExpectationFailure } from './expectations.ts';
import type { HttpResponse } from './response.ts';

/** Bytes of a file and the offset of the first. */
export interface RangePart {
  readonly firstPosition: number;
  readonly bytes: Buffer;
}

const contentRange = /^bytes (\d+)-(\d+)\/(?:\d+|\*)$/i;
const blankLine = '\r\n\r\n';

/**
 * Returns the parts of a 206 response. Throws an ExpectationFailure when a part has no
 * Content-Range that fits its length, or when a multipart body has no parts.
 */
export function partsOf(response: HttpResponse): readonly RangePart[] {
  const type = response.headers['content-type'] ?? '';
  const boundary = /^multipart\/byteranges\s*;.*\bboundary="?([^";]+)"?/i.exec(type)?.[1];
  if (boundary === undefined) return [partOf(response.headers['content-range'], response.bytes)];
  const bodies = response.bytes.toString('latin1').split(`--${boundary}`).slice(1, -1);
  if (bodies.length === 0) throw new ExpectationFailure('parts between boundaries', 'none');
  return bodies.map(bodyPart);
}

/** Parses one part with its own headers. */
function bodyPart(text: string): RangePart {
  const end = text.indexOf(blankLine);
  const contentRange = /^content-range:\s*(.*?)\s*$/im.exec(text.slice(0, end))?.[1];
  return partOf(contentRange, Buffer.from(text.slice(end + blankLine.length, -2), 'latin1'));
}

function partOf(said: string | undefined, bytes: Buffer): RangePart {
  const [, firstPosition, lastPosition] = contentRange.exec(said ?? '') ?? [];
  if (
    firstPosition !== undefined &&
    Number(lastPosition) - Number(firstPosition) + 1 === bytes.length
  ) {
    return { firstPosition: Number(firstPosition), bytes };
  }
  const expected = `a Content-Range that fits ${bytes.length} bytes`;
  throw new ExpectationFailure(expected, describeValue(said ?? 'none'));
}
