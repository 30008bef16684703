/** Returns the same text with other line ends, as editors, shells and `println` produce them. */

const LF = Buffer.from('\n');
const CRLF = Buffer.from('\r\n');

/** Returns the body with a line feed appended. */
export const withLineFeed = (body: Buffer): Buffer => Buffer.concat([body, LF]);
/** Returns the body with CR LF appended. */
export const withCrLf = (body: Buffer): Buffer => Buffer.concat([body, CRLF]);

/** Returns the body without the line feed at its end; undefined if it ends otherwise. */
export function withoutLineFeed(body: Buffer): Buffer | undefined {
  return endsIn(body, LF) && !endsIn(body, CRLF) ? body.subarray(0, -1) : undefined;
}

/** Returns the body without the CR LF at its end; undefined if it ends otherwise. */
export function withoutCrLf(body: Buffer): Buffer | undefined {
  return endsIn(body, CRLF) ? body.subarray(0, -2) : undefined;
}

/**
 * Returns the body with all line ends as line feeds, and with all as CR LF, except where equal to
 * the body.
 */
export function convertedLineEnds(body: Buffer): Buffer[] {
  const text = body.toString('latin1');
  const feeds = text.replaceAll('\r\n', '\n');
  return [feeds, feeds.replaceAll('\n', '\r\n')]
    .filter((variant) => variant !== text)
    .map((variant) => Buffer.from(variant, 'latin1'));
}

/** Returns the body in every format that the functions above produce. */
export function otherLineEnds(body: Buffer): Buffer[] {
  const shorter = [withoutLineFeed(body), withoutCrLf(body)].filter((text) => text !== undefined);
  return [withLineFeed(body), withCrLf(body), ...shorter, ...convertedLineEnds(body)];
}

function endsIn(body: Buffer, end: Buffer): boolean {
  return body.length >= end.length && body.subarray(-end.length).equals(end);
}
