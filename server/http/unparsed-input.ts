/**
 * Input that cannot be read as HTTP, as far as naming the cause needs. Everything that it
 * shows is masked.
 */
import { printable } from '../../fixtures/base/printable.ts';
import type { ReceivedPart } from './body.ts';
import { masked, maskHeaders, maskText } from './masking.ts';

/** A request of a connection, as far as it says where its body ends. */
export interface Framing {
  /** Method and path. */
  readonly methodAndPath: string;
  /** The value of Content-Length as sent. */
  readonly length: string | undefined;
  readonly isChunked: boolean;
}

/** Where and why reading stopped. */
export interface ParserStop {
  /** Node's error code, such as HPE_INVALID_METHOD. */
  readonly code: string;
  /** The text of the parser's error. */
  readonly reason: string;
  /** The last chunk that was read; empty when it is unknown. */
  readonly chunk: Buffer;
  /** Number of bytes of the chunk before the place where reading stopped. */
  readonly at: number;
  /** True when nothing was read on the connection before this chunk. */
  readonly isFirstChunk: boolean;
  /** The last complete request of the connection. */
  readonly lastRequest?: Framing | undefined;
  /** The request whose body was being read, with the part of the body that arrived. */
  readonly current?: (Framing & { readonly received: ReceivedPart }) | undefined;
  /** The stall as a sentence without its subject; only after a stalled body. */
  readonly stall?: { readonly what: string; readonly remedy: string } | undefined;
}

const SHOWN_CHARACTERS = 60;
/** Characters of a long request line before the place where reading stopped. */
const SHOWN_BEFORE = 30;
/** A word of this length or more may be a key or a token, or a part of one. */
const longTokens = /[\w.+/=~-]{16,}/g;
/** A request line, also an invalid one. */
export const requestLikeText = /^\s*[a-z-]{2,16}[ \t]+(?:[/*]|https?:)/i;
const startLine = /^[A-Z]{1,20} [^ \r\n]+( HTTP\/\d\.\d)?(?=[\r\n]|$)/;
const LINE_MAX_CHARACTERS = 512;
const emptyLine = '\r\n\r\n';
const readable = /^[\x20-\x7e\r\n\t]*$/;
const HEX_BYTES = 8;

/** The input around the place where reading stopped, as the table needs it. */
export class UnparsedInput {
  readonly code: string;
  readonly reason: string;
  readonly lastRequest: Framing | undefined;
  readonly current: ParserStop['current'];
  readonly stall: ParserStop['stall'];
  /** The chunk, a character for each byte. */
  readonly text: string;
  readonly at: number;
  /** The line where reading stopped, without its end, and the place within it. */
  readonly line: string;
  readonly lineAt: number;
  /** The text from the first byte that belongs to no earlier request. */
  readonly unparsedText: string;
  /** True when the line began in an earlier chunk, so that it may start within a secret. */
  readonly #isFragment: boolean;

  constructor({ code, reason, chunk, at, isFirstChunk, ...stop }: ParserStop) {
    this.code = code;
    this.reason = reason;
    this.lastRequest = stop.lastRequest;
    this.current = stop.current;
    this.stall = stop.stall;
    this.text = chunk.toString('latin1');
    this.at = Math.min(at, chunk.length);
    const from = this.text.lastIndexOf('\n', this.at - 1) + 1;
    const isAfterEnd = from === this.at && /line|version/.test(reason);
    const lineFrom = isAfterEnd ? this.text.lastIndexOf('\n', from - 2) + 1 : from;
    this.line = /^[^\r\n]*/.exec(this.text.slice(lineFrom))?.[0] ?? '';
    this.lineAt = this.at - lineFrom;
    let start = this.at;
    while (/[A-Z-]/.test(this.text[start - 1] ?? '')) start -= 1;
    this.unparsedText = this.text.slice(start);
    this.#isFragment = lineFrom === 0 && !isFirstChunk && !requestLikeText.test(this.line);
  }

  /** Method, URL and version of the request that cannot be read; undefined for other bytes. */
  get startLineText(): string | undefined {
    const end = this.text.lastIndexOf(emptyLine, this.at - 1);
    const from = end < 0 ? 0 : end + emptyLine.length;
    return startLine.exec(this.text.slice(from, from + LINE_MAX_CHARACTERS))?.[0];
  }

  /** The character where reading stopped. */
  get character(): string {
    return this.text[this.at] ?? '';
  }

  /**
   * The name of the header line where reading stopped, or the first word of a line without colon.
   */
  get header(): string {
    const [, name] = /^([^:]*):/.exec(this.line) ?? [];
    const isValue = name === undefined && this.previousHeader.isSecret;
    const word = name ?? /^\S*/.exec(this.line)?.[0] ?? '';
    return this.#isFragment || isValue ? masked : quoteText(word.replace(longTokens, masked));
  }

  /** The header line above the one where reading stopped. A line that is unknown may be secret. */
  get previousHeader(): { readonly name: string; readonly isSecret: boolean } {
    const above = this.text.slice(0, this.at - this.lineAt).trimEnd();
    const [, name = '', value = ''] = /(?:^|\n)([\w-]+):([^\r\n]*)$/.exec(above) ?? [];
    const [header] = maskHeaders([name, value]);
    return { name, isSecret: name === '' ? this.#isFragment : header?.[1] === masked };
  }

  /** The value of the header line where reading stopped; only for headers that are not secret. */
  get value(): string {
    return quoteText(this.line.slice(this.line.indexOf(':') + 1).trim());
  }

  /** The line where reading stopped, when it is a chunk size or a part of the body. */
  get bodyLine(): string {
    return quoteText(maskText(this.line).replace(longTokens, masked));
  }

  /**
   * The line where reading stopped, when it is a request line; of a long one the part around it.
   */
  get requestLine(): string {
    if (this.#isFragment) return masked;
    const line = maskText(this.line);
    const at = line.length - (this.line.length - this.lineAt);
    const from = line.length > SHOWN_CHARACTERS && at > SHOWN_BEFORE ? at - SHOWN_BEFORE : 0;
    return from === 0 ? quoteText(line) : quoteText(`...${line.slice(from)}`);
  }

  /** The first bytes that belong to no earlier request, as text or in hexadecimal. */
  get firstBytes(): string {
    const line = /^[^\r\n]*/.exec(this.unparsedText)?.[0] ?? '';
    if (!readable.test(line.slice(0, HEX_BYTES))) {
      const hex = Buffer.from(this.unparsedText.slice(0, HEX_BYTES), 'latin1').toString('hex');
      return `the bytes ${hex.replace(/..(?=.)/g, '$& ')}`;
    }
    const maskedLine = maskText(line).replace(longTokens, masked);
    // What follows an earlier request may start within a secret.
    return quoteText(this.lastRequest ? maskedLine.replace(/^[\w.+/=~-]{4,}/, masked) : maskedLine);
  }
}

/** Returns a string of one character for each byte in quotes, decoded and shortened. */
function quoteText(text: string): string {
  return `"${printable(Buffer.from(text, 'latin1').toString(), SHOWN_CHARACTERS)}"`;
}
