/**
 * Bash words that expand to exactly these texts, whatever they contain. Everything stays on one
 * line and printable, so that it can be copied from an indented report.
 */

/** The variable for masks without a label. */
const UNNAMED = 'SECRET';

const masks = /<masked(?::[\w-]+)?(?:, other [\w ]+)?>/g;
const plain = /^[^\p{C}\u2028\u2029]*$/u;

/** Returns the masks in a text. */
export function masksIn(text: string): readonly string[] {
  return text.match(masks) ?? [];
}

/**
 * Returns the variable of a mask: `<masked:device-token, other claims>` is
 * `DEVICE_TOKEN_OTHER_CLAIMS`.
 */
export function variableOf(mask: string): string {
  const words = mask.slice('<masked'.length, -1).replace(/^:/, '');
  return words.replace(/\W+/g, '_').toUpperCase() || UNNAMED;
}

/**
 * Returns one word; masks in it become variables. The text has no NUL, which no argument can
 * contain.
 */
export function shellWord(text: string): string {
  const literals = text.split(masks);
  const variables = masksIn(text).map((mask) => `"$${variableOf(mask)}"`);
  const pieces = literals.flatMap((literal, index) => [
    literal === '' ? '' : quoted(literal),
    variables[index] ?? '',
  ]);
  return pieces.join('') || "''";
}

/** Returns a word that bash replaces by a file with these bytes. */
export function shellFile(bytes: Buffer): string {
  return `<(printf %s '${bytes.toString('base64')}' | openssl base64 -d -A)`;
}

/** In single quotes; invisible characters and line breaks are escaped byte by byte. */
function quoted(text: string): string {
  if (plain.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  return `$'${[...text].map(spelled).join('')}'`;
}

function spelled(character: string): string {
  if (character === '\n') return '\\n';
  if (character === "'" || character === '\\') return `\\${character}`;
  if (plain.test(character)) return character;
  // Three octal digits end the escape, whatever digit follows.
  const bytes = [...Buffer.from(character)];
  return bytes.map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
