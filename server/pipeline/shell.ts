/** Quotes texts as words of a shell command; safe for any content. */
import { printableText } from '../../fixtures/printable.ts';

const plain = /^[A-Za-z0-9_./:=@%+,-]+$/;
const unsafe = /[\\'\p{C}\u2028\u2029]/gu;

/**
 * Returns one bash word for exactly this text. Characters that a terminal does not show as
 * themselves are written as escaped bytes. A NUL is omitted, because no argument can contain it.
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
