/**
 * The line discipline of a terminal: echoes input, handles backspace, and returns whole lines. It
 * does not interpret the lines.
 */
import { StringDecoder } from 'node:string_decoder';

/** One result of typed characters: text to echo, a whole line, or a control key. */
export type EditorResult =
  | { readonly kind: 'echo'; readonly text: string }
  | { readonly kind: 'line'; readonly text: string }
  /** The user typed Ctrl-C. */
  | { readonly kind: 'interrupt' }
  /** The user typed Ctrl-D on an empty line. */
  | { readonly kind: 'end' };

const LINE_MAX_CHARACTERS = 4096;
const BELL = '\x07';
const ERASE_ONE = '\b \b';

/** Edits the line that the user is typing. */
export class LineEditor {
  readonly #decoder = new StringDecoder('utf8');
  #line: string[] = [];
  #lastWasReturn = false;
  /**
   * Position within an escape sequence, such as that of an arrow key; escape sequences are ignored.
   */
  #escape: 'none' | 'begun' | 'within' = 'none';
  readonly #keys: Readonly<Record<string, () => EditorResult | undefined>> = {
    '\r': () => this.#finish(),
    '\n': () => this.#finish(),
    '\b': () => this.#eraseOne(),
    '\x7f': () => this.#eraseOne(),
    '\x03': () => this.#interrupt(),
    '\x04': () => this.#endIfEmpty(),
    '\x15': () => this.#eraseAll(),
    '\x1b': () => this.#beginEscape(),
  };

  /** Processes typed bytes. A character may be split across two calls. */
  type(bytes: Uint8Array): EditorResult[] {
    return [...this.#decoder.write(Buffer.from(bytes))].flatMap((character) => {
      const input = this.#typed(character);
      return input === undefined ? [] : [input];
    });
  }

  #typed(character: string): EditorResult | undefined {
    if (this.#isWithinEscape(character)) return undefined;
    const isSecondOfPair = character === '\n' && this.#lastWasReturn;
    this.#lastWasReturn = character === '\r';
    if (isSecondOfPair) return undefined;
    const key = this.#keys[character];
    if (key !== undefined) return key();
    return character < ' ' ? undefined : this.#keep(character);
  }

  #isWithinEscape(character: string): boolean {
    if (this.#escape === 'begun') {
      this.#escape = character === '[' || character === 'O' ? 'within' : 'none';
      return true;
    }
    if (this.#escape === 'within') {
      const isLast = character >= '@' && character <= '~';
      if (isLast) this.#escape = 'none';
      return true;
    }
    return false;
  }

  #keep(character: string): EditorResult {
    if (this.#line.length >= LINE_MAX_CHARACTERS) return { kind: 'echo', text: BELL };
    this.#line.push(character);
    return { kind: 'echo', text: character };
  }

  #finish(): EditorResult {
    return { kind: 'line', text: this.#drop().join('') };
  }

  #eraseOne(): EditorResult | undefined {
    return this.#line.pop() === undefined ? undefined : { kind: 'echo', text: ERASE_ONE };
  }

  #eraseAll(): EditorResult {
    return { kind: 'echo', text: ERASE_ONE.repeat(this.#drop().length) };
  }

  #interrupt(): EditorResult {
    this.#drop();
    return { kind: 'interrupt' };
  }

  #endIfEmpty(): EditorResult | undefined {
    return this.#line.length === 0 ? { kind: 'end' } : undefined;
  }

  #beginEscape(): undefined {
    this.#escape = 'begun';
  }

  #drop(): string[] {
    const line = this.#line;
    this.#line = [];
    return line;
  }
}
