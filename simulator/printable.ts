/** Text of devices and servers made fit for a terminal. */

/** Code points that steer a terminal or turn the direction of writing, or that cannot be seen. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu;

/**
 * The text with every control, format or lone surrogate character spelled as `\u{…}` and cut to
 * `charactersMax`. It is always one line.
 */
export function printable(text: string, charactersMax = 200): string {
  const cut = text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
  return cut.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
