/** One line of the live view: pieces of text, some with a colour, cut to the terminal's width. */
import { printable } from '../../../fixtures/base/printable.ts';

/** The meaning of a colour; each has one SGR code below. */
export type TextTone = 'positive' | 'negative' | 'warn' | 'dim' | 'strong';

/** Text, with or without a colour. */
export type TextSpan = string | { readonly text: string; readonly tone: TextTone };

const codes: Readonly<Record<TextTone, readonly [number, number]>> = {
  positive: [32, 39],
  negative: [31, 39],
  warn: [33, 39],
  dim: [2, 22],
  strong: [1, 22],
};
/** Characters that terminals show in two columns. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const TEXT_MAX_CHARACTERS = 1000;

export interface LineStyle {
  readonly columns: number;
  readonly colour: boolean;
}

/** Returns the pieces as one printable line, cut to the width of the terminal. */
export function styledLine(spans: readonly TextSpan[], { columns, colour }: LineStyle): string {
  let room = columns;
  let line = '';
  for (const span of spans) {
    const { text, tone } = typeof span === 'string' ? { text: span, tone: undefined } : span;
    const cut = cutTo(printable(text, TEXT_MAX_CHARACTERS), room);
    room -= widthOf(cut);
    line += tone === undefined || !colour ? cut : colourText(cut, tone);
  }
  return line;
}

function colourText(text: string, tone: TextTone): string {
  const [start, end] = codes[tone];
  return text === '' ? '' : `\u001b[${start}m${text}\u001b[${end}m`;
}

function cutTo(text: string, columns: number): string {
  let room = columns;
  let beginning = '';
  for (const character of text) {
    room -= columnsOf(character);
    if (room < 0) return beginning;
    beginning += character;
  }
  return beginning;
}

/** Returns the number of columns that the text takes on a terminal. */
export function widthOf(text: string): number {
  return [...text].reduce((sum, character) => sum + columnsOf(character), 0);
}

function columnsOf(character: string): number {
  return wide.test(character) ? 2 : 1;
}
