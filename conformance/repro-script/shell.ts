/**
 * Words for bash that give exactly these texts, whatever is in them. Everything stays on one line
 * and printable, so that it can be copied out of an indented report.
 */

/** Where the masks of a request that nothing says more about come from. */
const UNNAMED = 'SECRET';

const masks = /<masked(?::[\w-]+)?(?:, other [\w ]+)?>/g;
const plain = /^[^\p{C}\u2028\u2029]*$/u;

/** The masks that stand in a text. */
export function masksIn(text: string): readonly string[] {
  return text.match(masks) ?? [];
}

/** `<masked:device-token, other claims>` is the variable `DEVICE_TOKEN_OTHER_CLAIMS`. */
export function variableOf(mask: string): string {
  const words = mask.slice('<masked'.length, -1).replace(/^:/, '');
  return words.replace(/\W+/g, '_').toUpperCase() || UNNAMED;
}

/** One word; masks in it become variables. The text holds no NUL, which no argument can carry. */
export function shellWord(text: string): string {
  const literals = text.split(masks);
  const variables = masksIn(text).map((mask) => `"$${variableOf(mask)}"`);
  const pieces = literals.flatMap((literal, index) => [
    literal === '' ? '' : quoted(literal),
    variables[index] ?? '',
  ]);
  return pieces.join('') || "''";
}

/** A word that bash replaces by a file with these bytes. */
export function shellFile(bytes: Buffer): string {
  return `<(printf %s '${bytes.toString('base64')}' | openssl base64 -d -A)`;
}

/** In single quotes; what cannot be seen, or ends a line, is spelled out byte by byte. */
function quoted(text: string): string {
  if (plain.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  return `$'${[...text].map(spelled).join('')}'`;
}

function spelled(character: string): string {
  if (character === '\n') return '\\n';
  if (character === "'" || character === '\\') return `\\${character}`;
  if (plain.test(character)) return character;
  // Three octal digits end by themselves, whatever digit follows.
  const bytes = [...Buffer.from(character)];
  return bytes.map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
