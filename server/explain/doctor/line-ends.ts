/** The same text with other line ends, as produced by editors, shells and `println`. */

const LF = Buffer.from('\n');
const CRLF = Buffer.from('\r\n');

/** The body with a line break behind it. */
export const withLineFeed = (body: Buffer): Buffer => Buffer.concat([body, LF]);
/** The body with CR LF behind it. */
export const withCrLf = (body: Buffer): Buffer => Buffer.concat([body, CRLF]);

/** The body without the bare line break at its end, when there is one. */
export function withoutLineFeed(body: Buffer): Buffer | undefined {
  return endsIn(body, LF) && !endsIn(body, CRLF) ? body.subarray(0, -1) : undefined;
}

/** The body without the CR LF at its end, when there is one. */
export function withoutCrLf(body: Buffer): Buffer | undefined {
  return endsIn(body, CRLF) ? body.subarray(0, -2) : undefined;
}

/** The body with all its line ends as CR LF, and with all of them as line feeds; never itself. */
export function convertedLineEnds(body: Buffer): Buffer[] {
  const text = body.toString('latin1');
  const feeds = text.replaceAll('\r\n', '\n');
  return [feeds, feeds.replaceAll('\n', '\r\n')]
    .filter((other) => other !== text)
    .map((other) => Buffer.from(other, 'latin1'));
}

/** The body in every form that the functions above produce. */
export function otherLineEnds(body: Buffer): Buffer[] {
  const shorter = [withoutLineFeed(body), withoutCrLf(body)].filter((text) => text !== undefined);
  return [withLineFeed(body), withCrLf(body), ...shorter, ...convertedLineEnds(body)];
}

function endsIn(body: Buffer, end: Buffer): boolean {
  return body.length >= end.length && body.subarray(-end.length).equals(end);
}
