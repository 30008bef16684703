/**
 * The mistakes that make a request unreadable, each with its sentence and the way out. The first row
 * that applies names the mistake.
 * Source: RFC 9112
 */
import { counted } from '../../fixtures/counted.ts';
import { type Input, requestLikeText } from './unread-input.ts';

/** A mistake of a client. */
export interface HttpMistake {
  /** Stable name, such as `space-in-url`. */
  readonly id: string;
  /** True for a limit of time or size, which a valid request may exceed too. */
  readonly isLimit?: true;
  /** True when the mistake explains why reading stopped. */
  readonly is: (input: Input) => boolean;
  /** What is wrong and where; a sentence that starts in lower case. */
  readonly what: (input: Input) => string;
  /** What to do instead; an imperative in lower case. */
  readonly remedy: string | ((input: Input) => string);
}

/** Node's code for a connection that ends within a request. */
export const cutOffCode = 'HPE_INVALID_EOF_STATE';
const chunkEnd = '\r\n0\r\n\r\n';
const crlf = 'end each line with CR LF ("\\r\\n")';
const oneLine = 'send the header as "Name: value" on one line';

/** A connection that speaks something else. */
const protocols: readonly HttpMistake[] = [
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
  {
    id: 'certificate-not-trusted',
    is: ({ code }) =>
      /UNKNOWN_CA|CERTIFICATE_(?:UNKNOWN|EXPIRED|REVOKED)|BAD_CERTIFICATE/.test(code),
    what: () => "the client does not accept the server's certificate",
    remedy:
      'give the client the CA certificate of the server, and call it by a name in its certificate',
  },
  {
    id: 'tls-version',
    is: ({ code }) => /UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|VERSION_TOO_LOW/.test(code),
    what: () => 'the client offers no TLS version that the server accepts',
    remedy: 'use TLS 1.2 or 1.3',
  },
  {
    id: 'tls-cipher',
    is: ({ code }) => /NO_SHARED_CIPHER|NO_SUITABLE_SIGNATURE/.test(code),
    what: () => 'client and server have no cipher suite or signature algorithm in common',
    remedy: 'offer the suites of TLS 1.3, or ECDHE with AES-GCM',
  },
  {
    id: 'no-client-certificate',
    is: ({ code }) => /PEER_DID_NOT_RETURN_A_CERTIFICATE/.test(code),
    what: () => 'the client sent no certificate, and --tls-client-ca requires one',
    remedy: 'send a certificate of that CA',
  },
  {
    id: 'tls-handshake-timed-out',
    is: ({ code }) => code === 'ERR_TLS_HANDSHAKE_TIMEOUT',
    what: () => 'the TLS handshake did not end in time',
    remedy: 'send the ClientHello at once, and use the scheme https:// in the URL',
  },
  {
    id: 'tls-failed',
    is: ({ code }) => /^ERR_(?:SSL|TLS)_/.test(code),
    what: ({ code }) => `the TLS handshake failed (${code})`,
    remedy: 'begin with a complete ClientHello of TLS 1.2 or 1.3',
  },
  {
    id: 'http-2',
    is: ({ code }) => code === 'HPE_PAUSED_H2_UPGRADE',
    what: () => 'the connection begins as HTTP/2',
    remedy: 'send HTTP/1.1; with curl, leave out --http2-prior-knowledge',
  },
];

/** Time, size and connections that end early. */
const bounds: readonly HttpMistake[] = [
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
    is: (input) => isCutOff(input) && holdsLastChunk(input),
    what: (input) => `the connection was closed${progressOf(input)}`,
    remedy: remedyOfPart,
  },
  {
    id: 'no-last-chunk',
    is: (input) => isCutOff(input) && input.current?.isChunked === true,
    what: () => 'the connection was closed in the middle of a body in chunks',
    remedy: remedyOfPart,
  },
  {
    id: 'body-too-short',
    is: (input) => isCutOff(input) && input.current !== undefined,
    what: (input) => `the connection was closed${progressOf(input)}`,
    remedy: remedyOfPart,
  },
  {
    id: 'headers-cut-off',
    is: isCutOff,
    what: () => 'the connection was closed before the end of the headers',
    remedy: 'send an empty line ("\\r\\n") after the last header',
  },
];

function isCutOff({ code }: Input): boolean {
  return code === cutOffCode;
}

/** True when the end of the chunks was read as a part of one. */
function holdsLastChunk({ current }: Input): boolean {
  return current?.isChunked === true && current.received.toString('latin1').endsWith(chunkEnd);
}

/** Says which part of an incomplete body arrived. */
function progressOf(input: Input): string {
  const { current } = input;
  if (!current) return '';
  const { received, length, isChunked } = current;
  if (holdsLastChunk(input)) {
    return ' within a chunk that announces more bytes than were sent, as a decimal size does';
  }
  if (isChunked)
    return ` after ${counted(received.length, 'byte')} in chunks, without the last chunk`;
  return ` after ${received.length} of the ${counted(Number(length), 'byte')} that Content-Length announces`;
}

function remedyOfPart(input: Input): string {
  if (holdsLastChunk(input)) {
    return `write the size of each chunk in hexadecimal, such as ${hexExample(input)}`;
  }
  return input.current?.isChunked
    ? 'end the body with a chunk of size 0 ("0\\r\\n\\r\\n")'
    : 'set Content-Length to the length of the body in bytes';
}

function hexExample({ current }: Input): string {
  const size = Math.max(0, (current?.received.length ?? 0) - chunkEnd.length);
  return `${size.toString(16)} for ${counted(size, 'byte')}`;
}

/** What follows an earlier request. */
const leftovers: readonly HttpMistake[] = [
  {
    id: 'request-after-close',
    is: ({ code, rest }) => code === 'HPE_CLOSED_CONNECTION' && requestLikeText.test(rest),
    what: ({ before }) => `a request follows ${before?.asked}, which has "Connection: close"`,
    remedy: 'send it on a new connection, or leave out that header',
  },
  {
    id: 'no-content-length',
    is: (input) =>
      isLeftover(input) && input.before?.length === undefined && !input.before?.isChunked,
    what: ({ before, rest, firstBytes }) =>
      `${counted(rest.length, 'byte')} follow ${before?.asked}, which has no Content-Length, so they are not its body: ${firstBytes}`,
    remedy: 'send Content-Length with the length of the body in bytes',
  },
  {
    id: 'body-too-long',
    is: (input) => isLeftover(input) && input.before?.isChunked === false,
    what: ({ before, rest, firstBytes }) =>
      `${counted(rest.length, 'byte')} follow the body of ${before?.asked}, whose Content-Length is ${before?.length}: ${firstBytes}`,
    remedy: 'set Content-Length to the length of the whole body in bytes, not characters',
  },
  {
    id: 'bytes-after-last-chunk',
    is: isLeftover,
    what: ({ before, rest, firstBytes }) =>
      `${counted(rest.length, 'byte')} follow the last chunk of ${before?.asked}: ${firstBytes}`,
    remedy: 'end the body with one chunk of size 0, and send nothing after it',
  },
];

function isLeftover({ code, before, rest }: Input): boolean {
  const isOfStart = code === 'HPE_INVALID_METHOD' || code === 'HPE_CLOSED_CONNECTION';
  return isOfStart && before !== undefined && !requestLikeText.test(rest);
}

const isOfMethod = ({ code }: Input): boolean => code === 'HPE_INVALID_METHOD';

/** The method, and what stands before it. */
const methods: readonly HttpMistake[] = [
  {
    id: 'byte-order-mark',
    is: (input) => isOfMethod(input) && /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/.test(input.rest),
    what: ({ firstBytes }) => `the request begins with a byte order mark: ${firstBytes}`,
    remedy: 'begin with the method, in ASCII',
  },
  {
    id: 'blank-before-method',
    is: (input) => isOfMethod(input) && /^[ \t]/.test(input.rest),
    what: ({ firstBytes }) => `a blank stands before the method: ${firstBytes}`,
    remedy: 'begin with the method',
  },
  {
    id: 'no-space-after-method',
    is: (input) => isOfMethod(input) && /space after method/.test(input.reason),
    what: ({ requestLine }) => `no space stands after the method: ${requestLine}`,
    remedy: 'write "GET /path HTTP/1.1", with single spaces',
  },
  {
    id: 'method-in-lower-case',
    is: (input) =>
      isOfMethod(input) && /^(?:get|post|put|patch|delete|head|options)[ \t]/i.test(input.line),
    what: ({ requestLine }) => `the method is not in capital letters: ${requestLine}`,
    remedy: 'write "GET /path HTTP/1.1"; methods are case-sensitive',
  },
  {
    id: 'response-sent',
    is: (input) => isOfMethod(input) && /^HTTP\//i.test(input.line),
    what: ({ requestLine }) =>
      `the line begins with the version, as a response does: ${requestLine}`,
    remedy: 'write "GET /path HTTP/1.1"',
  },
  {
    id: 'no-method',
    is: (input) => isOfMethod(input) && /^(?:\/|https?:\/\/)/i.test(input.line),
    what: ({ requestLine }) => `the request line begins with the URL: ${requestLine}`,
    remedy: 'write the method before it, such as "GET /path HTTP/1.1"',
  },
  {
    id: 'no-request-line',
    is: (input) => isOfMethod(input) && /^[\w-]+:/.test(input.line) && !/ HTTP\//.test(input.line),
    what: ({ header }) => `the request begins with the header ${header}`,
    remedy: 'begin with a request line, such as "GET /path HTTP/1.1"',
  },
  {
    id: 'unknown-method',
    is: (input) => isOfMethod(input) && requestLikeText.test(input.line),
    what: ({ requestLine }) => `the method is not one of HTTP: ${requestLine}`,
    remedy: 'use GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS',
  },
];

const isOfUrl = ({ code }: Input): boolean => code === 'HPE_INVALID_URL';

/** The URL and the version. */
const requestLines: readonly HttpMistake[] = [
  {
    id: 'no-url',
    is: (input) => isOfUrl(input) && /^[A-Z]+ +HTTP\/\d/.test(input.line),
    what: ({ requestLine }) => `the URL is missing: ${requestLine}`,
    remedy: 'write it between method and version, at least "/"',
  },
  {
    id: 'url-not-ascii',
    is: (input) => isOfUrl(input) && /[\x7f-\xff]/.test(input.line),
    what: ({ requestLine }) => `the URL has a character that is not ASCII: ${requestLine}`,
    remedy: 'percent-encode its UTF-8 bytes, such as %C3%BC',
  },
  {
    id: 'control-character-in-url',
    is: (input) => isOfUrl(input) && /\p{Cc}/u.test(input.line),
    what: ({ requestLine }) => `the URL has a control character: ${requestLine}`,
    remedy: 'remove it, or percent-encode it, such as %09 for a tab',
  },
  {
    id: 'url-without-slash',
    is: isOfUrl,
    what: ({ requestLine }) =>
      `the URL is neither a path that begins with "/" nor a whole URL: ${requestLine}`,
    remedy: 'send "/path", or "http://host/path" through a proxy',
  },
  {
    id: 'version-in-lower-case',
    is: ({ code, text, at }) => code === 'HPE_INVALID_CONSTANT' && /^http\//.test(text.slice(at)),
    what: ({ requestLine }) => `the version is not in capital letters: ${requestLine}`,
    remedy: 'write "HTTP/1.1"',
  },
  {
    id: 'space-in-url',
    is: ({ code, line }) => code === 'HPE_INVALID_CONSTANT' && /\sHTTP\/\d/i.test(line),
    what: ({ requestLine }) => `the URL contains a space: ${requestLine}`,
    remedy: 'send it as %20, in a query also as +',
  },
  {
    id: 'no-version',
    is: ({ code }) => code === 'HPE_INVALID_CONSTANT',
    what: ({ requestLine }) =>
      `the request line has something else than its version at the end: ${requestLine}`,
    remedy: 'end it with "HTTP/1.1"',
  },
  {
    id: 'escaped-line-end',
    is: ({ code, text, at }) => code === 'HPE_INVALID_VERSION' && /^\\[rn]/.test(text.slice(at)),
    what: ({ requestLine }) => `the line end is spelled with a backslash: ${requestLine}`,
    remedy: 'send the bytes 0D 0A; in a shell, printf writes them for "\\r\\n" where echo does not',
  },
  {
    id: 'bare-line-feed',
    is: ({ reason, text, at }) => /after version/.test(reason) && text[at - 1] === '\n',
    what: ({ requestLine }) => `the request line ends with LF alone: ${requestLine}`,
    remedy: crlf,
  },
  {
    id: 'line-end-with-two-returns',
    is: ({ reason, text, at }) => /after version/.test(reason) && text[at - 1] === '\r',
    what: ({ requestLine }) => `the request line ends with CR that no LF follows: ${requestLine}`,
    remedy: crlf,
  },
  {
    id: 'text-after-version',
    is: ({ reason }) => /after version/.test(reason),
    what: ({ requestLine }) =>
      `something stands between the version and the line end: ${requestLine}`,
    remedy: 'end the request line with "HTTP/1.1" and CR LF ("\\r\\n")',
  },
  {
    id: 'unknown-version',
    is: ({ code }) => code === 'HPE_INVALID_VERSION',
    what: ({ requestLine }) => `the version of the request line does not exist: ${requestLine}`,
    remedy: 'write "HTTP/1.1"',
  },
];

const isOfName = ({ code, reason }: Input): boolean =>
  code === 'HPE_INVALID_HEADER_TOKEN' && reason === 'Invalid header token';

/** Header lines. */
const headers: readonly HttpMistake[] = [
  {
    id: 'line-end-in-url',
    is: (input) => isOfName(input) && / HTTP\/\d/.test(input.line),
    what: ({ requestLine }) =>
      `a line end stands before the end of the request line: ${requestLine}`,
    remedy: 'send method, URL and version on one line',
  },
  {
    id: 'no-empty-line',
    is: (input) => isOfName(input) && /^[[{"<]/.test(input.line),
    what: ({ bodyLine }) =>
      `the body follows the headers without an empty line between them: ${bodyLine}`,
    remedy: 'send an empty line ("\\r\\n") after the last header',
  },
  {
    id: 'space-before-colon',
    is: (input) => isOfName(input) && /^[ \t]+:/.test(input.line.slice(input.lineAt)),
    what: ({ header }) => `a blank stands between the header name ${header} and its colon`,
    remedy: 'write "Name: value"',
  },
  {
    id: 'line-end-in-header',
    is: (input) =>
      isOfName(input) && input.previousHeader.name !== '' && /^[\w+/=.-]*$/.test(input.line),
    what: ({ previousHeader, header }) =>
      `the header ${previousHeader.name} is broken by a line end; the next line is ${header}`,
    remedy: `remove the line end from the value (base64 -w0 writes one line), and ${oneLine}`,
  },
  {
    id: 'header-without-colon',
    is: (input) => isOfName(input) && !input.line.includes(':'),
    what: ({ header }) => `a header line has no colon: ${header}`,
    remedy: `${oneLine}; a value must not contain a line end`,
  },
  {
    id: 'header-without-name',
    is: (input) => isOfName(input) && input.line.startsWith(':'),
    what: () => 'a header line begins with a colon',
    remedy: oneLine,
  },
  {
    id: 'blank-in-header-name',
    is: (input) => isOfName(input) && /[ \t]/.test(input.character),
    what: ({ header }) => `the name of a header contains a blank: ${header}`,
    remedy: 'join the words of the name by "-"',
  },
  {
    id: 'character-in-header-name',
    is: isOfName,
    what: ({ header }) =>
      `the name of a header contains a character that names do not have: ${header}`,
    remedy: 'use ASCII letters, digits and "-"',
  },
  {
    id: 'folded-header',
    is: ({ reason }) => reason === 'Unexpected whitespace after header value',
    what: ({ previousHeader }) =>
      `the header ${previousHeader.name} continues on the next line, which begins with a blank`.replace(
        '  ',
        ' ',
      ),
    remedy: oneLine,
  },
  {
    id: 'blank-before-header',
    is: ({ code }) => code === 'HPE_UNEXPECTED_SPACE',
    what: ({ header }) => `the first header line begins with a blank: ${header}`,
    remedy: oneLine,
  },
  {
    id: 'control-character-in-header',
    is: ({ reason }) => reason === 'Invalid header value char',
    what: ({ header, character }) =>
      `the value of the header ${header} contains the byte 0x${hex(character)}`,
    remedy: 'remove it',
  },
  {
    id: 'line-end-in-header',
    is: ({ reason, text, at, character }) =>
      /after header value/.test(reason) &&
      (character !== '\n' || !/^\n(?:[\w-]+:|\n|$)/.test(text.slice(at))),
    what: ({ header }) => `the value of the header ${header} contains a line end`,
    remedy: `remove it (base64 -w0 and printf write none), and ${oneLine}`,
  },
  {
    id: 'bare-line-feed',
    is: ({ reason, character, text, at }) =>
      (/after header value/.test(reason) && character === '\n') ||
      (reason === 'Invalid header field char' && text[at - 1] === '\n'),
    what: ({ header, reason }) =>
      reason === 'Invalid header field char'
        ? 'the empty line after the headers ends with LF alone'
        : `the header line ${header} ends with LF alone`,
    remedy: crlf,
  },
  {
    id: 'two-content-lengths',
    is: ({ code }) => code === 'HPE_UNEXPECTED_CONTENT_LENGTH',
    what: () => 'the header Content-Length was sent twice',
    remedy: 'send it once',
  },
  {
    id: 'content-length-and-chunked',
    is: ({ reason }) => /can't be present with/.test(reason),
    what: () => 'the request has both Content-Length and Transfer-Encoding',
    remedy: 'send Content-Length alone, or "Transfer-Encoding: chunked" alone',
  },
  {
    id: 'content-length-not-a-number',
    is: ({ code }) => code === 'HPE_INVALID_CONTENT_LENGTH',
    what: ({ value }) => `Content-Length is not a number of bytes: ${value}`,
    remedy: 'send the length of the body in bytes, in decimal digits',
  },
  {
    id: 'other-transfer-encoding',
    is: ({ code }) => code === 'HPE_INVALID_TRANSFER_ENCODING',
    what: () => 'the Transfer-Encoding is not chunked alone',
    remedy: 'send "Transfer-Encoding: chunked", or Content-Length instead',
  },
];

const isOfSize = ({ code }: Input): boolean => code === 'HPE_INVALID_CHUNK_SIZE';

/** Bodies in chunks. */
const chunks: readonly HttpMistake[] = [
  {
    id: 'chunk-size-with-prefix',
    is: (input) => isOfSize(input) && /^0x/i.test(input.line),
    what: ({ bodyLine }) => `the chunk size has the prefix 0x: ${bodyLine}`,
    remedy: 'write hexadecimal digits alone, such as 1f',
  },
  {
    id: 'body-not-in-chunks',
    is: (input) => isOfSize(input) && !/^\s*-?[\da-z]{1,20}\s*(?:$|;)/i.test(input.line),
    what: ({ bodyLine }) =>
      `"Transfer-Encoding: chunked" announces a body in chunks, but no chunk size stands at ${bodyLine}`,
    remedy:
      'send each chunk as its size in hexadecimal, CR LF, the bytes, CR LF, or send Content-Length instead',
  },
  {
    id: 'chunk-size-not-hexadecimal',
    is: isOfSize,
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
      return `the chunk size ${size} announces ${counted(Number.parseInt(size, 16), 'byte')}, but the chunk has ${size}: sizes are hexadecimal`;
    },
    remedy: ({ text }) => {
      const size = decimalSizeIn(text) ?? '';
      return `write ${Number(size).toString(16)} for ${counted(Number(size), 'byte')}`;
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

function isAfterChunk({ reason }: Input): boolean {
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

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
}

/** All mistakes; the order decides between several that apply. */
export const mistakes: readonly HttpMistake[] = [
  ...protocols,
  ...bounds,
  ...leftovers,
  ...methods,
  ...requestLines,
  ...headers,
  ...chunks,
];

/** Input that no row explains. */
export const notHttp: HttpMistake = {
  id: 'not-http',
  is: () => true,
  what: ({ firstBytes }) => `no request begins with ${firstBytes}`,
  remedy: 'begin with a request line, such as "GET /path HTTP/1.1", and end each line with CR LF',
};
