/** Quotes texts as bash words, in which each mask of a secret becomes a variable. */
import { shellQuoted } from '../../fixtures/formats/shell-word.ts';

/** The variable for masks without a label. */
const UNNAMED = 'SECRET';

const masks = /<masked(?::[\w-]+)?(?:, other [\w ]+)?>/g;

/** Returns the masks in a text. */
export function masksIn(text: string): readonly string[] {
  return text.match(masks) ?? [];
}

/** Returns the variable of a mask: `<masked:device-token>` is `DEVICE_TOKEN`. */
export function variableOf(mask: string): string {
  const name = mask.slice('<masked'.length, -1).replace(/^:/, '');
  return name.replace(/\W+/g, '_').toUpperCase() || UNNAMED;
}

/** Returns one word; masks in it become variables. */
export function maskedWord(text: string): string {
  const literals = text.split(masks);
  const variables = masksIn(text).map((mask) => `"$${variableOf(mask)}"`);
  const chunks = literals.flatMap((literal, index) => [
    literal === '' ? '' : shellQuoted(literal),
    variables[index] ?? '',
  ]);
  return chunks.join('') || "''";
}

/** Returns a word that bash replaces by a file with these bytes. */
export function shellFile(bytes: Buffer): string {
  return `<(printf %s '${bytes.toString('base64')}' | openssl base64 -d -A)`;
}
