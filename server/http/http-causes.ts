/**
 * The causes that make a request unparsable, each with its sentence and the remedy. The first row
 * that applies names the cause.
 * Source: RFC 9112
 */
import { countText } from '../../fixtures/base/count-text.ts';
import { headCauses, type RefusalCause } from './head-causes.ts';
import { tlsCauses } from './tls-causes.ts';
import { requestLikeText, type UnparsedInput } from './unparsed-input.ts';

/** Node's code for a connection that ends within a request. */
export const cutOffCode = 'HPE_INVALID_EOF_STATE';
const chunkEnd = '\r\n0\r\n\r\n';

/** A connection that speaks something else. */
const protocols: readonly RefusalCause[] = [
  {
    id: 'tls-to-http-port',
    is: ({ text, at }) => text.startsWith('\x16\x03') && at < 3,
    what: ({ firstBytes }) =>
      `a TLS handshake was sent to the port for plain HTTP; it begins with ${firstBytes}`,
    remedy: 'use the scheme http:// in the URL, or start the server with --tls',
  },
  {
    id: 'http-to-tls-port',
    is: ({ code }) => code === 'ERR_SSL_HTTP_REQUEST',
    what: ({ requestLine }) => `plain HTTP was sent to the port for TLS: ${requestLine}`,
    remedy: 'use the scheme https:// in the URL, or start the server without TLS',
  },
  ...tlsCauses,
  {
    id: 'http-2',
    is: ({ code }) => code === 'HPE_PAUSED_H2_UPGRADE',
    what: () => 'the connection begins as HTTP/2',
    remedy: 'send HTTP/1.1; with curl, leave out --http2-prior-knowledge',
  },
];

/** Time, size and connections that end early. */
const bounds: readonly RefusalCause[] = [
  {
    id: 'headers-too-large',
    isLimit: true,
    is: ({ code }) => code === 'HPE_HEADER_OVERFLOW',
    what: () => 'the request line and the headers are larger together than the server reads',
    remedy: 'send fewer or shorter headers',
  },
  {
    id: 'body-stalled',
    isLimit: true,
    is: ({ stall }) => stall !== undefined,
    what: (input) => `the body stalled: ${input.stall?.what}${progressOf(input)}`,
    remedy: (input) => [remedyOfPart(input), input.stall?.remedy].filter(Boolean).join('; '),
  },
  {
    id: 'request-timed-out',
    isLimit: true,
    is: ({ code }) => code === 'ERR_HTTP_REQUEST_TIMEOUT',
    what: () => 'the request line and the headers did not end in time',
    remedy: 'send them at once, and an empty line ("\\r\\n") after the last header',
  },
  {
    id: 'decimal-chunk-size',
    is: (input) => endsEarly(input) && holdsLastChunk(input),
    what: (input) => `the connection was closed${progressOf(input)}`,
    remedy: remedyOfPart,
  },
  {
    id: 'no-last-chunk',
    is: (input) => endsEarly(input) && input.current?.isChunked === true,
    what: () => 'the connection was closed in the middle of a body in chunks',
    remedy: remedyOfPart,
  },
  {
    id: 'body-too-short',
    is: (input) => endsEarly(input) && input.current !== undefined,
    what: (input) => `the connection was closed${progressOf(input)}`,
    remedy: remedyOfPart,
  },
  {
    id: 'headers-cut-off',
    is: endsEarly,
    what: () => 'the connection was closed before the end of the headers',
    remedy: 'send an empty line ("\\r\\n") after the last header',
  },
];

function endsEarly({ code }: UnparsedInput): boolean {
  return code === cutOffCode;
}

/** True when the end of the chunks was read as a part of one. */
function holdsLastChunk({ current }: UnparsedInput): boolean {
  return current?.isChunked === true && current.received.end.toString('latin1').endsWith(chunkEnd);
}

/** Says which part of an incomplete body arrived. */
function progressOf(input: UnparsedInput): string {
  const { current } = input;
  if (!current) return '';
  const { received, length, isChunked } = current;
  if (holdsLastChunk(input)) {
    return ' within a chunk that announces more bytes than were sent, as a decimal size does';
  }
  if (isChunked)
    return ` after ${countText(received.bytes, 'byte')} in chunks, without the last chunk`;
  return ` after ${received.bytes} of the ${countText(Number(length), 'byte')} that Content-Length announces`;
}

function remedyOfPart(input: UnparsedInput): string {
  if (holdsLastChunk(input)) {
    return `write the size of each chunk in hexadecimal, such as ${hexExample(input)}`;
  }
  return input.current?.isChunked
    ? 'end the body with a chunk of size 0 ("0\\r\\n\\r\\n")'
    : 'set Content-Length to the length of the body in bytes';
}

function hexExample({ current }: UnparsedInput): string {
  const size = Math.max(0, (current?.received.bytes ?? 0) - chunkEnd.length);
  return `${size.toString(16)} for ${countText(size, 'byte')}`;
}

/** Causes of a refusal of bytes that follow an earlier request. */
const leftovers: readonly RefusalCause[] = [
  {
    id: 'request-after-close',
    is: ({ code, unparsedText }) =>
      code === 'HPE_CLOSED_CONNECTION' && requestLikeText.test(unparsedText),
    what: ({ lastRequest }) =>
      `a request follows ${lastRequest?.methodAndPath}, which has "Connection: close"`,
    remedy: 'send it on a new connection, or leave out that header',
  },
  {
    id: 'no-content-length',
    is: (input) =>
      isLeftover(input) && input.lastRequest?.length === undefined && !input.lastRequest?.isChunked,
    what: ({ lastRequest, unparsedText, firstBytes }) =>
      `${countText(unparsedText.length, 'byte')} follow ${lastRequest?.methodAndPath}, which has no Content-Length, so they are not its body: ${firstBytes}`,
    remedy: 'send Content-Length with the length of the body in bytes',
  },
  {
    id: 'body-too-long',
    is: (input) => isLeftover(input) && input.lastRequest?.isChunked === false,
    what: ({ lastRequest, unparsedText, firstBytes }) =>
      `${countText(unparsedText.length, 'byte')} follow the body of ${lastRequest?.methodAndPath}, whose Content-Length is ${lastRequest?.length}: ${firstBytes}`,
    remedy: 'set Content-Length to the length of the whole body in bytes, not characters',
  },
  {
    id: 'bytes-after-last-chunk',
    is: isLeftover,
    what: ({ lastRequest, unparsedText, firstBytes }) =>
      `${countText(unparsedText.length, 'byte')} follow the last chunk of ${lastRequest?.methodAndPath}: ${firstBytes}`,
    remedy: 'end the body with one chunk of size 0, and send nothing after it',
  },
];

function isLeftover({ code, lastRequest, unparsedText }: UnparsedInput): boolean {
  const isAtStart = code === 'HPE_INVALID_METHOD' || code === 'HPE_CLOSED_CONNECTION';
  return isAtStart && lastRequest !== undefined && !requestLikeText.test(unparsedText);
}

const isChunkSizeInvalid = ({ code }: UnparsedInput): boolean => code === 'HPE_INVALID_CHUNK_SIZE';

/** Causes in a body that is sent in chunks. */
const chunks: readonly RefusalCause[] = [
  {
    id: 'chunk-size-with-prefix',
    is: (input) => isChunkSizeInvalid(input) && /^0x/i.test(input.line),
    what: ({ bodyLine }) => `the chunk size has the prefix 0x: ${bodyLine}`,
    remedy: 'write hexadecimal digits alone, such as 1f',
  },
  {
    id: 'body-not-in-chunks',
    is: (input) => isChunkSizeInvalid(input) && !/^\s*-?[\da-z]{1,20}\s*(?:$|;)/i.test(input.line),
    what: ({ bodyLine }) =>
      `"Transfer-Encoding: chunked" announces a body in chunks, but there is no chunk size at ${bodyLine}`,
    remedy:
      'send each chunk as its size in hexadecimal, CR LF, the bytes, CR LF, or send Content-Length instead',
  },
  {
    id: 'chunk-size-not-hexadecimal',
    is: isChunkSizeInvalid,
    what: ({ bodyLine }) => `the chunk size is not a hexadecimal number: ${bodyLine}`,
    remedy: 'write the number of bytes in hexadecimal digits, and CR LF after it',
  },
  {
    id: 'chunk-line-end',
    is: ({ reason }) => /after chunk size|chunk extension/i.test(reason),
    what: () => 'the line with the chunk size does not end with CR LF',
    remedy: 'write CR LF ("\\r\\n") after the size and after the bytes of each chunk',
  },
  {
    id: 'decimal-chunk-size',
    is: (input) => isAfterChunk(input) && decimalSizeIn(input.text) !== undefined,
    what: ({ text }) => {
      const size = decimalSizeIn(text) ?? '';
      return `the chunk size ${size} announces ${countText(Number.parseInt(size, 16), 'byte')}, but the chunk has ${size}: sizes are hexadecimal`;
    },
    remedy: ({ text }) => {
      const size = decimalSizeIn(text) ?? '';
      return `write ${Number(size).toString(16)} for ${countText(Number(size), 'byte')}`;
    },
  },
  {
    id: 'wrong-chunk-size',
    is: isAfterChunk,
    what: () => 'a chunk does not end after the number of bytes that its size announces',
    remedy:
      'write the number of its bytes in hexadecimal, not of characters, and CR LF after the bytes',
  },
];

function isAfterChunk({ reason }: UnparsedInput): boolean {
  return /after chunk data/.test(reason);
}

/** Returns the size of the first chunk that ends where its size as a decimal number says. */
function decimalSizeIn(text: string): string | undefined {
  const end = text.indexOf('\r\n\r\n');
  let at = /^[A-Z]+ /.test(text) ? end + 4 : 0;
  for (;;) {
    const [head, size] = /^([\da-f]{1,8})[^\r\n]{0,100}\r\n/i.exec(text.slice(at, at + 120)) ?? [];
    if (head === undefined || size === undefined) return undefined;
    const from = at + head.length;
    const endsAfter = (bytes: number): boolean => text.startsWith('\r\n', from + bytes);
    const bytes = Number.parseInt(size, 16);
    if (!endsAfter(bytes)) return /^\d+$/.test(size) && endsAfter(Number(size)) ? size : undefined;
    at = from + bytes + 2;
  }
}

/** All causes; the order decides between several that apply. */
export const causes: readonly RefusalCause[] = [
  ...protocols,
  ...bounds,
  ...leftovers,
  ...headCauses,
  ...chunks,
];

/** Input that no row explains. */
export const notHttp: RefusalCause = {
  id: 'not-http',
  is: () => true,
  what: ({ firstBytes }) => `no request begins with ${firstBytes}`,
  remedy: 'begin with a request line, such as "GET /path HTTP/1.1", and end each line with CR LF',
};
