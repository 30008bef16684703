/** Texts with variables as words of a shell command. */
import { quoted } from '../pipeline/shell.ts';
import type { Text, Variable } from './text.ts';

/** The public key is escaped where it is read. */
function isEscaped({ variable, isInJson }: Variable): boolean {
  return isInJson === true && variable !== 'PUBLIC_KEY';
}

/** The definition of what puts a value into a string of JSON; nothing where no text needs it. */
export function escapingLines(text: Text): string[] {
  const isNeeded = text.some((part) => typeof part !== 'string' && isEscaped(part));
  return isNeeded ? [`json() { printf %s "$1" | sed 's/[\\\\"]/\\\\&/g'; }`] : [];
}

/** What means itself between double quotes. */
const tame = /^[A-Za-z0-9 _./:=@%+,?&;-]*$/;

/** One word of bash for a text with variables. */
export function quotedText(text: Text): string {
  const isTame = text.every((part) => typeof part !== 'string' || tame.test(part));
  if (isTame && text.some((part) => typeof part !== 'string')) {
    const inner = text.map((part) => (typeof part === 'string' ? part : `\${${part.variable}}`));
    return `"${inner.join('').replace(/\$\{(\w+)\}(?!\w)/g, '$$$1')}"`;
  }
  const words = joined(text).map((part) =>
    typeof part === 'string' ? quoted(part) : wordOf(part),
  );
  return words.length === 0 ? "''" : words.join('');
}

function wordOf(part: Variable): string {
  return isEscaped(part) ? `"$(json "$${part.variable}")"` : `"$${part.variable}"`;
}

/** Without empty parts, and with neighbouring strings in one. */
function joined(text: Text): Text {
  const parts: (string | Variable)[] = [];
  for (const part of text) {
    const last = parts.at(-1);
    if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part;
    else if (part !== '') parts.push(part);
  }
  return parts;
}
