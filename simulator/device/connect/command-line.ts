/**
 * Parses one line of the device's shell: words with quotes and variables, and an optional
 * redirection of the output. Any other shell syntax is an error.
 */

/** Thrown for a line that cannot be parsed; the message is the shell's output. */
export class CommandSyntaxError extends Error {
  override readonly name = 'CommandSyntaxError';
}

/** A redirection of a command's output to a file. */
export interface Redirection {
  readonly path: string;
  readonly appends: boolean;
}

/** A parsed command line: one command and where its output goes. */
export interface CommandLine {
  /** The command's name and its arguments; empty for an empty line. */
  readonly args: readonly string[];
  readonly redirection?: Redirection;
}

/** Characters of syntax that this shell does not support. */
const unsupported = '|&;<()`';
const blank = /\s/;
const variableName = /^(?:\?|[A-Za-z_]\w*)/;
const bracedName = /^\{(\?|[A-Za-z_]\w*)\}/;
/** Characters that a backslash escapes within double quotes. */
const escapable = '"\\$`';

/**
 * Parses a command line.
 * @param lookUp returns the value of a variable; an empty string when the variable is not set
 * @throws CommandSyntaxError
 */
export function parseCommandLine(line: string, lookUp: (name: string) => string): CommandLine {
  return new CommandLineParser(line, lookUp).parse();
}

class CommandLineParser {
  readonly #line: string;
  readonly #lookUp: (name: string) => string;
  #at = 0;

  constructor(line: string, lookUp: (name: string) => string) {
    this.#line = line;
    this.#lookUp = lookUp;
  }

  parse(): CommandLine {
    const args: string[] = [];
    let redirection: Redirection | undefined;
    for (;;) {
      this.#skipBlanks();
      const next = this.#peek();
      if (next === '' || next === '#') break;
      if (next === '>') redirection = this.#redirection();
      else args.push(this.#word());
    }
    return { args, ...(redirection === undefined ? {} : { redirection }) };
  }

  #redirection(): Redirection {
    this.#take();
    const appends = this.#peek() === '>';
    if (appends) this.#take();
    this.#skipBlanks();
    const next = this.#peek();
    if (next === '' || next === '>') throw unexpectedToken(next === '' ? 'newline' : next);
    return { path: this.#word(), appends };
  }

  #word(): string {
    let word = '';
    for (let next = this.#peek(); next !== '' && next !== '>'; next = this.#peek()) {
      if (blank.test(next)) break;
      if (unsupported.includes(next)) throw unexpectedToken(next);
      word += this.#part();
    }
    return word;
  }

  #part(): string {
    const character = this.#take();
    if (character === "'") return this.#quoted();
    if (character === '"') return this.#doubleQuoted();
    if (character === '\\') return this.#take();
    return character === '$' ? this.#variable() : character;
  }

  #quoted(): string {
    const end = this.#line.indexOf("'", this.#at);
    if (end < 0) throw new CommandSyntaxError('sh: syntax error: unterminated quoted string');
    const text = this.#line.slice(this.#at, end);
    this.#at = end + 1;
    return text;
  }

  #doubleQuoted(): string {
    let text = '';
    for (let character = this.#take(); character !== '"'; character = this.#take()) {
      if (character === '')
        throw new CommandSyntaxError('sh: syntax error: unterminated quoted string');
      if (character === '$') text += this.#variable();
      else if (character === '\\' && escapable.includes(this.#peek() || ' ')) text += this.#take();
      else text += character;
    }
    return text;
  }

  #variable(): string {
    const remainingLine = this.#line.slice(this.#at);
    const braced = bracedName.exec(remainingLine);
    const name = braced?.[1] ?? variableName.exec(remainingLine)?.[0];
    if (name === undefined) return '$';
    this.#at += braced?.[0].length ?? name.length;
    return this.#lookUp(name);
  }

  #skipBlanks(): void {
    while (blank.test(this.#peek())) this.#at++;
  }

  /** Returns the next character; an empty string at the end of the line. */
  #peek(): string {
    return this.#line[this.#at] ?? '';
  }

  #take(): string {
    const character = this.#peek();
    this.#at++;
    return character;
  }
}

function unexpectedToken(token: string): CommandSyntaxError {
  return new CommandSyntaxError(`sh: syntax error: "${token}" unexpected`);
}
