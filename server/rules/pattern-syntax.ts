/**
 * Reads the text of a regular expression into a tree: the part of the usual syntax that can be
 * matched in time linear in the text. What needs looking back or around is refused.
 */

/** Whether a character, given as a code point, is meant. */
export type CharacterTest = (character: number) => boolean;

/** A pattern as a tree. */
export type PatternNode =
  | {
      readonly kind: 'character';
      readonly test: CharacterTest;
      /** How many comparisons the test takes at most. */
      readonly cost: number;
    }
  | { readonly kind: 'start' | 'end' }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly PatternNode[] }
  | {
      readonly kind: 'repeat';
      readonly part: PatternNode;
      readonly least: number;
      /** Infinity when there is no upper bound. */
      readonly most: number;
    };

/** Why a pattern is not taken here; the message goes on after its name. */
export class PatternFault extends Error {
  override readonly name: string = 'PatternFault';
}

const REPEATS_MAX = 1000;
/** What is blind to case is asked twice, of characters that are made for it. */
const FOLDED_COST = 4;

/** The tree of a pattern; `(?i)` in front makes it blind to case. @throws PatternFault */
export function readPattern(source: string): PatternNode {
  const isFolded = source.startsWith('(?i)');
  const reader = new Reader(isFolded ? source.slice('(?i)'.length) : source, isFolded);
  const tree = reader.choice();
  if (!reader.isAtEnd) throw new PatternFault('has a ")" without its "("');
  return tree;
}

const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v' };

const isDigit: CharacterTest = (at) => at >= 48 && at <= 57;
const isWord: CharacterTest = (at) =>
  isDigit(at) || (at >= 65 && at <= 90) || (at >= 97 && at <= 122) || at === 95;
const spaces = new Set(
  Array.from(' \t\n\v\f\r\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff', codeOf),
);
const isSpace: CharacterTest = (at) => spaces.has(at) || (at >= 0x2000 && at <= 0x200a);
const classes: Readonly<Record<string, CharacterTest>> = {
  d: isDigit,
  D: not(isDigit),
  w: isWord,
  W: not(isWord),
  s: isSpace,
  S: not(isSpace),
};

class Reader {
  readonly #characters: readonly string[];
  readonly #isFolded: boolean;
  #at = 0;

  constructor(source: string, isFolded: boolean) {
    this.#characters = [...source];
    this.#isFolded = isFolded;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#characters.length;
  }

  choice(): PatternNode {
    const parts = [this.#sequence()];
    while (this.#takes('|')) parts.push(this.#sequence());
    return { kind: 'choice', parts };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (!this.isAtEnd && this.#next !== '|' && this.#next !== ')') parts.push(this.#repeated());
    return { kind: 'sequence', parts };
  }

  #repeated(): PatternNode {
    const part = this.#atom();
    const times = this.#quantifier();
    if (!times) return part;
    // Lazy and greedy differ in what they capture, not in whether they match.
    this.#takes('?');
    if (this.#quantifier())
      throw new PatternFault('repeats a repetition; put the inner one into ( )');
    return { kind: 'repeat', part, ...times };
  }

  #quantifier(): { least: number; most: number } | undefined {
    if (this.#takes('*')) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.#takes('+')) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.#takes('?')) return { least: 0, most: 1 };
    const rest = this.#characters.slice(this.#at, this.#at + 12).join('');
    const counted = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(rest);
    if (!counted) return undefined;
    this.#at += counted[0].length;
    const least = Number(counted[1]);
    const upper = counted[3] === '' ? Number.POSITIVE_INFINITY : Number(counted[3]);
    const most = counted[2] === undefined ? least : upper;
    if (most < least)
      throw new PatternFault(
        `has the repetition ${counted[0]}, whose maximum is below its minimum`,
      );
    if (Math.max(least, Number.isFinite(most) ? most : 0) > REPEATS_MAX) {
      throw new PatternFault(`has the repetition ${counted[0]}; the maximum is ${REPEATS_MAX}`);
    }
    return { least, most };
  }

  #atom(): PatternNode {
    const character = this.#take();
    if (character === '(') return this.#group();
    if (character === '[') return this.#set();
    if (character === '.') return this.#character((at) => at !== 10);
    if (character === '^') return { kind: 'start' };
    if (character === '$') return { kind: 'end' };
    if (character === '\\') return this.#character(this.#escape());
    if ('*+?'.includes(character)) {
      throw new PatternFault(`has a "${character}" with nothing before it to repeat`);
    }
    return this.#character(only(character));
  }

  #group(): PatternNode {
    if (this.#takes('?') && !this.#takes(':')) {
      throw new PatternFault('has a "(?" group; only "(?:" is supported');
    }
    const inner = this.choice();
    if (!this.#takes(')')) throw new PatternFault('has a "(" without its ")"');
    return inner;
  }

  #set(): PatternNode {
    const isNegated = this.#takes('^');
    const tests: CharacterTest[] = [];
    do tests.push(this.#range());
    while (!this.isAtEnd && this.#next !== ']');
    if (!this.#takes(']')) throw new PatternFault('has a "[" without its "]"');
    const any = this.#folded((at) => tests.some((test) => test(at)));
    const cost = tests.length * (this.#isFolded ? FOLDED_COST : 1);
    return { kind: 'character', test: isNegated ? not(any) : any, cost };
  }

  #range(): CharacterTest {
    const first = this.#take();
    if (first === '\\') return this.#escape();
    if (this.#next !== '-' || [undefined, ']'].includes(this.#characters[this.#at + 1])) {
      return only(first);
    }
    this.#take();
    const last = this.#take();
    const [from, to] = [codeOf(first), codeOf(last)];
    if (last === '\\' || to < from) {
      throw new PatternFault(`has no valid range from "${first}" to "${last}" in [ ]`);
    }
    return (at) => at >= from && at <= to;
  }

  #escape(): CharacterTest {
    const character = this.#take();
    const known = classes[character];
    if (known) return known;
    const control = controls[character];
    if (control !== undefined) return only(control);
    if (/[a-zA-Z0-9]/.test(character))
      throw new PatternFault(`has \\${character}, which is not supported`);
    return only(character);
  }

  #character(test: CharacterTest): PatternNode {
    return { kind: 'character', test: this.#folded(test), cost: this.#isFolded ? FOLDED_COST : 1 };
  }

  #folded(test: CharacterTest): CharacterTest {
    if (!this.#isFolded) return test;
    return (at) => {
      const character = String.fromCodePoint(at);
      return test(codeOf(character.toLowerCase())) || test(codeOf(character.toUpperCase()));
    };
  }

  get #next(): string | undefined {
    return this.#characters[this.#at];
  }

  #takes(character: string): boolean {
    if (this.#next !== character) return false;
    this.#at += 1;
    return true;
  }

  #take(): string {
    const character = this.#next;
    if (character === undefined) throw new PatternFault('ends too early');
    this.#at += 1;
    return character;
  }
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function only(character: string): CharacterTest {
  const wanted = codeOf(character);
  return (at) => at === wanted;
}

function not(test: CharacterTest): CharacterTest {
  return (at) => !test(at);
}
