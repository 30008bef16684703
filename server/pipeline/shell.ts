/** Texts as words of a shell command, safe whatever they hold. */
import { printableText } from '../../fixtures/printable.ts';

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
