/** Text that came from a target, made harmless for a terminal or for XML. */

/** Characters that steer a terminal, turn the direction of writing, or cannot be seen. */
const unprintable = /[^\P{C}\n\t]|[\u2028\u2029]/gu;

/** The text with each unprintable character spelled out, such as `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(unprintable, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`);
}

/** The same on one line, cut to a number of characters. */
export function printableLine(text: string, charactersMax = 200): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return printable(line.length > charactersMax ? `${line.slice(0, charactersMax)}…` : line);
}
