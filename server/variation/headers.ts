/** Equivalent spellings of header lines. See RFC 9110, section 5. */
import type { Random } from '../../fixtures/base/random.ts';
import { shuffleItems } from './order.ts';
import type { HeaderLine } from './response.ts';

const utf8Types = [
  'application/json;charset=UTF-8',
  'application/json; charset="utf-8"',
  'Application/JSON; Charset=utf-8',
  'application/json ; charset=UTF-8',
  'application/json',
] as const;

/** Returns the headers with their names in lower case, upper case or mixed case. */
export function withOtherCase(headers: readonly HeaderLine[], random: Random): HeaderLine[] {
  return headers.map(([name, value]) => [recasedName(name, random), value]);
}

/** Returns the lines in another order. Lines with the same name keep their order. */
export function withOtherOrder(headers: readonly HeaderLine[], random: Random): HeaderLine[] {
  const groups = new Map<string, HeaderLine[]>();
  for (const line of headers) {
    const name = line[0].toLowerCase();
    groups.set(name, [...(groups.get(name) ?? []), line]);
  }
  return shuffleItems([...groups.values()], random).flat();
}

/** Returns the headers with the JSON media type in another spelling. */
export function withOtherMediaType(headers: readonly HeaderLine[], random: Random): HeaderLine[] {
  const spelling = random.pick(utf8Types);
  return headers.map(([name, value]) =>
    name.toLowerCase() === 'content-type' && value.startsWith('application/json')
      ? [name, spelling]
      : [name, value],
  );
}

function recasedName(name: string, random: Random): string {
  const draw = random.integer(0, 2);
  if (draw === 0) return name.toLowerCase();
  if (draw === 1) return name.toUpperCase();
  return [...name]
    .map((letter) => (random.integer(0, 1) === 0 ? letter.toLowerCase() : letter.toUpperCase()))
    .join('');
}
