/**
 * Covering arrays: few requests in which each pair (or triple) of parameter values occurs, and the
 * classes of texts, numbers and lists from which the values are taken.
 */
import { make, sorters } from 'covertable';
import type { Random } from '../../fixtures/random.ts';

type Factors = Readonly<Record<string, readonly unknown[]>>;
export type Row<F extends Factors> = { readonly [Name in keyof F]: F[Name][number] };

/**
 * Returns rows in which each combination of values of `strength` factors occurs that `isLegal` accepts.
 * The same salt gives the same rows.
 */
export function coveringRows<const F extends Factors>(
  factors: F,
  {
    strength = 2,
    salt = '',
    isLegal,
  }: {
    readonly strength?: number;
    readonly salt?: string;
    readonly isLegal?: (row: Partial<Row<F>>) => boolean;
  } = {},
): readonly Row<F>[] {
  // The library works on indices, since it compares values by their text.
  const names = Object.keys(factors);
  const indices = names.map((name) => (factors[name] ?? []).map((_, index) => index));
  const rowOf = (chosen: Readonly<Record<string, number>> | readonly number[]): Partial<Row<F>> =>
    Object.fromEntries(
      Object.entries(chosen).map(([at, index]) => {
        const name = names[Number(at)] ?? '';
        return [name, factors[name]?.[index]];
      }),
    ) as Partial<Row<F>>;
  const preFilter =
    isLegal && ((chosen: Readonly<Record<string, number>>) => isLegal(rowOf(chosen)));
  const rows = make(indices, {
    length: Math.min(strength, names.length),
    sorter: sorters.hash,
    seed: salt,
    ...(preFilter && { preFilter }),
  }) as readonly (readonly number[])[];
  return rows.map((row) => rowOf(row) as Row<F>);
}

/** Classes of texts that servers are known to confuse, each with a maker of an example. */
export const textClasses = {
  plain: (random: Random) => random.bytes(4).toString('hex'),
  reserved: (random: Random) => `${random.bytes(2).toString('hex')}+ %&<"'\\/=;,:?#`,
  'beyond ASCII': (random: Random) => `${random.bytes(2).toString('hex')}-Ünïcødé-漢字`,
  'beyond the BMP': (random: Random) => `${random.bytes(2).toString('hex')}-😀𝄞`,
  'one character': () => 'x',
  'NFC and NFD': (random: Random) => `${random.bytes(2).toString('hex')}-\u00e9-e\u0301`,
  '256 characters': (random: Random) => random.bytes(128).toString('hex'),
  dotted: (random: Random) => `a.${random.bytes(2).toString('hex')}$b_c.`,
  'trailing space': (random: Random) => `${random.bytes(2).toString('hex')} `,
  numeral: () => '0012',
  prototype: () => '__proto__',
} as const satisfies Readonly<Record<string, (random: Random) => string>>;

export type TextClass = keyof typeof textClasses;

/** Variants of a text that a careless comparison takes for it. */
export const nearTexts = {
  prefix: (text: string) => [...text].slice(0, -1).join(''),
  extension: (text: string) => `${text}0`,
  'other letter case': (text: string) =>
    text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase(),
  'without spaces': (text: string) => text.trim(),
  'other normal form': (text: string) =>
    text === text.normalize('NFC') ? text.normalize('NFD') : text.normalize('NFC'),
} as const satisfies Readonly<Record<string, (text: string) => string>>;
