/** Writes JSON in any of the ways that RFC 8259 allows for one value. */

/**
 * The variations of JSON text to apply. Each has random bytes that decide where it is applied. See
 * RFC 8259.
 */
export interface JsonStyle {
  /** Adds white space around structural characters (section 2). */
  readonly spaces?: Uint8Array;
  /** Writes characters of strings as escapes (section 7). */
  readonly escapes?: Uint8Array;
  /** Writes whole numbers with a fraction or an exponent (section 6). */
  readonly numbers?: Uint8Array;
}

const insignificant = ['', ' ', '\n', '\t', '\r\n  '] as const;
/** Matches one character as `JSON.stringify` writes it. A surrogate pair is one character. */
const writtenCharacter = /\\u[0-9a-f]{4}|\\.|./gsu;
const ESCAPED_SHARE = 6;

/**
 * Returns the value as JSON text with these variations. Without any, the text equals that of
 * `JSON.stringify`.
 */
export function jsonText(value: unknown, style: JsonStyle): string {
  const spaces = style.spaces && rollerOf(style.spaces);
  const escapes = style.escapes && rollerOf(style.escapes);
  const numbers = style.numbers && rollerOf(style.numbers);
  const gap = (): string => (spaces ? (insignificant[spaces() % insignificant.length] ?? '') : '');
  const quoted = (plain: string): string => {
    const plainJson = JSON.stringify(plain);
    return escapes
      ? plainJson.replace(writtenCharacter, (one) => escapeCharacter(one, escapes()))
      : plainJson;
  };
  const joinParts = (parts: readonly string[]): string =>
    parts.map((part) => `${gap()}${part}${gap()}`).join(',');
  const write = (part: unknown): string => {
    if (Array.isArray(part)) return `[${joinParts(part.map(write))}]`;
    if (typeof part === 'object' && part !== null) {
      const members = Object.entries(part).filter(([, member]) => member !== undefined);
      const pairs = members.map(
        ([name, member]) => `${quoted(name)}${gap()}:${gap()}${write(member)}`,
      );
      return `{${joinParts(pairs)}}`;
    }
    if (typeof part === 'string') return quoted(part);
    if (typeof part === 'number' && numbers) return numberText(part, numbers());
    return JSON.stringify(part) ?? 'null';
  };
  return `${gap()}${write(value)}${gap()}`;
}

function rollerOf(dice: Uint8Array): () => number {
  let at = 0;
  return () => {
    const value = dice[at % dice.length] ?? 0;
    at += 1;
    return value;
  };
}

function escapeCharacter(character: string, roll: number): string {
  const isWhole = !character.startsWith('\\') && character !== '"';
  if (!isWhole || roll % ESCAPED_SHARE !== 0) return character;
  if (character === '/') return '\\/';
  return character
    .split('')
    .map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
    .map((digits) => `\\u${roll % 4 < 2 ? digits : digits.toUpperCase()}`)
    .join('');
}

/**
 * Rewrites only whole numbers that a double represents exactly, so that every reader gets the same
 * value.
 */
function numberText(value: number, roll: number): string {
  const numberJson = JSON.stringify(value);
  if (!Number.isSafeInteger(value) || !/^-?\d+$/.test(numberJson)) return numberJson;
  const texts = [numberJson, `${numberJson}.0`, `${numberJson}e0`, `${numberJson}.00E+0`];
  return texts[roll % texts.length] ?? numberJson;
}
