/** Writes texts with variables as words of a shell command. */
import { shellWord } from '../../fixtures/formats/shell-word.ts';
import type { CommandText, ShellVariable } from './text.ts';

/**
 * Returns true if the variable needs JSON escaping. The public key is already escaped when it is
 * read.
 */
function isEscaped({ variable, isInJson }: ShellVariable): boolean {
  return isInJson === true && variable !== 'PUBLIC_KEY';
}

/**
 * Returns the definition of the shell function that escapes a value for a JSON string; empty if no
 * variable needs it.
 */
export function escapingLines(text: CommandText): string[] {
  const isNeeded = text.some((part) => typeof part !== 'string' && isEscaped(part));
  return isNeeded ? [`json() { printf %s "$1" | sed 's/[\\\\"]/\\\\&/g'; }`] : [];
}

/** Matches text that bash does not change between double quotes. */
const safeInDoubleQuotes = /^[A-Za-z0-9 _./:=@%+,?&;-]*$/;

/** Returns a string with variables as one word of bash. */
export function quotedText(text: CommandText): string {
  const isTame = text.every((part) => typeof part !== 'string' || safeInDoubleQuotes.test(part));
  if (isTame && text.some((part) => typeof part !== 'string')) {
    const inner = text.map((part) => (typeof part === 'string' ? part : `\${${part.variable}}`));
    return `"${inner.join('').replace(/\$\{(\w+)\}(?!\w)/g, '$$$1')}"`;
  }
  const quotedParts = joinText(text).map((part) =>
    typeof part === 'string' ? shellWord(part) : wordOf(part),
  );
  return quotedParts.length === 0 ? "''" : quotedParts.join('');
}

function wordOf(part: ShellVariable): string {
  return isEscaped(part) ? `"$(json "$${part.variable}")"` : `"$${part.variable}"`;
}

/** Removes empty parts and joins neighbouring strings. */
function joinText(text: CommandText): CommandText {
  const parts: (string | ShellVariable)[] = [];
  for (const part of text) {
    const last = parts.at(-1);
    if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part;
    else if (part !== '') parts.push(part);
  }
  return parts;
}
