/** Texts as words of a shell command, safe whatever they hold. */
import { printableText } from '../../../fixtures/printable.ts';
import type { Text, Variable } from './text.ts';

const plain = /^[A-Za-z0-9_./:=@%+,-]+$/;
const unsafe = /[\\'\p{C}\u2028\u2029]/gu;

/**
 * One word of bash that stands for exactly this text. What a terminal would not show as itself is
 * written as bytes; a NUL, which no argument can hold, is left out.
 */
export function quoted(text: string): string {
  const whole = text.replaceAll('\0', '');
  if (plain.test(whole)) return whole;
  const isShown = printableText(whole) === whole && !/[\n\t]/.test(whole);
  if (isShown) return `'${whole.replaceAll("'", "'\\''")}'`;
  return `$'${whole.replace(unsafe, (character) => bytesOf(character))}'`;
}

function bytesOf(character: string): string {
  return [...Buffer.from(character)]
    .map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
    .join('');
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
    typeof part === 'string' ? quoted(part) : `"$${part.variable}"`,
  );
  return words.length === 0 ? "''" : words.join('');
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
