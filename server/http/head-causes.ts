/**
 * The causes for which the head of a request is refused: its method, its request line, its headers.
 * Source: RFC 9112
 */
import { requestLikeText, type UnparsedInput } from './unparsed-input.ts';

/** A cause for which a request is refused before it is read. */
export interface RefusalCause {
  /** Stable name, such as `space-in-url`. */
  readonly id: string;
  /** True for a limit of time or size, which a valid request may exceed too. */
  readonly isLimit?: true;
  /** True when the cause explains why reading stopped. */
  readonly is: (input: UnparsedInput) => boolean;
  /** The mistake and its place; a sentence that starts in lower case. */
  readonly what: (input: UnparsedInput) => string;
  /** The remedy; an imperative in lower case. */
  readonly remedy: string | ((input: UnparsedInput) => string);
}

const crlf = 'end each line with CR LF ("\\r\\n")';
const oneLine = 'send the header as "Name: value" on one line';

const isMethodInvalid = ({ code }: UnparsedInput): boolean => code === 'HPE_INVALID_METHOD';

/** The method, and what stands before it. */
const methods: readonly RefusalCause[] = [
  {
    id: 'byte-order-mark',
    is: (input) =>
      isMethodInvalid(input) && /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/.test(input.unparsedText),
    what: ({ firstBytes }) => `the request begins with a byte order mark: ${firstBytes}`,
    remedy: 'begin with the method, in ASCII',
  },
  {
    id: 'blank-before-method',
    is: (input) => isMethodInvalid(input) && /^[ \t]/.test(input.unparsedText),
    what: ({ firstBytes }) => `white space precedes the method: ${firstBytes}`,
    remedy: 'begin with the method',
  },
  {
    id: 'no-space-after-method',
    is: (input) => isMethodInvalid(input) && /space after method/.test(input.reason),
    what: ({ requestLine }) => `no space follows the method: ${requestLine}`,
    remedy: 'write "GET /path HTTP/1.1", with single spaces',
  },
  {
    id: 'method-in-lower-case',
    is: (input) =>
      isMethodInvalid(input) &&
      /^(?:get|post|put|patch|delete|head|options)[ \t]/i.test(input.line),
    what: ({ requestLine }) => `the method is not in capital letters: ${requestLine}`,
    remedy: 'write "GET /path HTTP/1.1"; methods are case-sensitive',
  },
  {
    id: 'response-sent',
    is: (input) => isMethodInvalid(input) && /^HTTP\//i.test(input.line),
    what: ({ requestLine }) =>
      `the line begins with the version, as a response does: ${requestLine}`,
    remedy: 'write "GET /path HTTP/1.1"',
  },
  {
    id: 'no-method',
    is: (input) => isMethodInvalid(input) && /^(?:\/|https?:\/\/)/i.test(input.line),
    what: ({ requestLine }) => `the request line begins with the URL: ${requestLine}`,
    remedy: 'write the method before it, such as "GET /path HTTP/1.1"',
  },
  {
    id: 'no-request-line',
    is: (input) =>
      isMethodInvalid(input) && /^[\w-]+:/.test(input.line) && !/ HTTP\//.test(input.line),
    what: ({ header }) => `the request begins with the header ${header}`,
    remedy: 'begin with a request line, such as "GET /path HTTP/1.1"',
  },
  {
    id: 'unknown-method',
    is: (input) => isMethodInvalid(input) && requestLikeText.test(input.line),
    what: ({ requestLine }) => `the method is not one of HTTP: ${requestLine}`,
    remedy: 'use GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS',
  },
];

const isUrlInvalid = ({ code }: UnparsedInput): boolean => code === 'HPE_INVALID_URL';

/** The URL and the version. */
const requestLines: readonly RefusalCause[] = [
  {
    id: 'no-url',
    is: (input) => isUrlInvalid(input) && /^[A-Z]+ +HTTP\/\d/.test(input.line),
    what: ({ requestLine }) => `the URL is missing: ${requestLine}`,
    remedy: 'write it between method and version, at least "/"',
  },
  {
    id: 'url-not-ascii',
    is: (input) => isUrlInvalid(input) && /[\x7f-\xff]/.test(input.line),
    what: ({ requestLine }) => `the URL has a character that is not ASCII: ${requestLine}`,
    remedy: 'percent-encode its UTF-8 bytes, such as %C3%BC',
  },
  {
    id: 'control-character-in-url',
    is: (input) => isUrlInvalid(input) && /\p{Cc}/u.test(input.line),
    what: ({ requestLine }) => `the URL has a control character: ${requestLine}`,
    remedy: 'remove it, or percent-encode it, such as %09 for a tab',
  },
  {
    id: 'url-without-slash',
    is: isUrlInvalid,
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
    what: ({ requestLine }) => `the request line does not end with its version: ${requestLine}`,
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
      `other characters are between the version and the line end: ${requestLine}`,
    remedy: 'end the request line with "HTTP/1.1" and CR LF ("\\r\\n")',
  },
  {
    id: 'unknown-version',
    is: ({ code }) => code === 'HPE_INVALID_VERSION',
    what: ({ requestLine }) => `the version of the request line does not exist: ${requestLine}`,
    remedy: 'write "HTTP/1.1"',
  },
];

const isHeaderNameInvalid = ({ code, reason }: UnparsedInput): boolean =>
  code === 'HPE_INVALID_HEADER_TOKEN' && reason === 'Invalid header token';

/** Causes in the header lines of a request. */
const headers: readonly RefusalCause[] = [
  {
    id: 'line-end-in-url',
    is: (input) => isHeaderNameInvalid(input) && / HTTP\/\d/.test(input.line),
    what: ({ requestLine }) => `a line end is within the request line: ${requestLine}`,
    remedy: 'send method, URL and version on one line',
  },
  {
    id: 'no-empty-line',
    is: (input) => isHeaderNameInvalid(input) && /^[[{"<]/.test(input.line),
    what: ({ bodyLine }) =>
      `the body follows the headers without an empty line between them: ${bodyLine}`,
    remedy: 'send an empty line ("\\r\\n") after the last header',
  },
  {
    id: 'space-before-colon',
    is: (input) => isHeaderNameInvalid(input) && /^[ \t]+:/.test(input.line.slice(input.lineAt)),
    what: ({ header }) => `white space is between the header name ${header} and its colon`,
    remedy: 'write "Name: value"',
  },
  {
    id: 'line-end-in-header',
    is: (input) =>
      isHeaderNameInvalid(input) &&
      input.previousHeader.name !== '' &&
      /^[\w+/=.-]*$/.test(input.line),
    what: ({ previousHeader, header }) =>
      `the header ${previousHeader.name} is broken by a line end; the next line is ${header}`,
    remedy: `remove the line end from the value (base64 -w0 writes one line), and ${oneLine}`,
  },
  {
    id: 'header-without-colon',
    is: (input) => isHeaderNameInvalid(input) && !input.line.includes(':'),
    what: ({ header }) => `a header line has no colon: ${header}`,
    remedy: `${oneLine}; a value must not contain a line end`,
  },
  {
    id: 'header-without-name',
    is: (input) => isHeaderNameInvalid(input) && input.line.startsWith(':'),
    what: () => 'a header line begins with a colon',
    remedy: oneLine,
  },
  {
    id: 'blank-in-header-name',
    is: (input) => isHeaderNameInvalid(input) && /[ \t]/.test(input.character),
    what: ({ header }) => `the name of a header contains a blank: ${header}`,
    remedy: 'join the words of the name by "-"',
  },
  {
    id: 'character-in-header-name',
    is: isHeaderNameInvalid,
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

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
}

/** All causes in a head; the order decides between several that apply. */
export const headCauses: readonly RefusalCause[] = [...methods, ...requestLines, ...headers];
