/** Builds HTML. External text enters a page only here, and only as text. */
import { escaped } from '../../../fixtures/markup.ts';

/** A piece of a page; only the functions of this file create one. */
export class Html {
  readonly #markup: string;

  private constructor(markup: string) {
    this.#markup = markup;
  }

  /** Creates an element with attributes and children; strings become text, never markup. */
  static element(
    name: string,
    attributes: Readonly<Record<string, string | number>>,
    ...children: readonly Child[]
  ): Html {
    const said = Object.entries(attributes).map(([key, value]) => {
      return ` ${key}="${escaped(String(value))}"`;
    });
    const inside = children.map(markupOf).join('');
    return new Html(`<${name}${said.join('')}>${inside}</${name}>`);
  }

  toString(): string {
    return this.#markup;
  }
}

/** The contents of an element. */
export type Child = Html | string;

function markupOf(child: Child): string {
  return typeof child === 'string' ? escaped(child) : child.toString();
}

export const element = Html.element;

/** Creates a table with a caption; a row is a list of cells, the first of which is its heading. */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Child[])[],
): Html {
  if (rows.length === 0) {
    return element('p', { class: 'hint' }, `${caption}: nothing to show.`);
  }
  const head = columns.map((name) => element('th', { scope: 'col' }, name));
  const body = rows.map(([first = '', ...rest]) => {
    const cells = rest.map((cell) => element('td', {}, cell));
    return element('tr', {}, element('th', { scope: 'row' }, first), ...cells);
  });
  const whole = element(
    'table',
    {},
    element('caption', {}, caption),
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...body),
  );
  return element(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    whole,
  );
}

/** Creates a word in the colour of its tone; the word alone carries the meaning too. */
export function mark(word: string, tone: 'good' | 'bad' | 'warn' | 'quiet'): Html {
  return element('span', { class: 'mark', 'data-tone': tone }, word);
}

/** Creates a section of the page with its heading. */
export function section(id: string, heading: string, ...children: readonly Child[]): Html {
  const title = element('h2', { id: `${id}-heading` }, heading);
  return element('section', { id, 'aria-labelledby': `${id}-heading` }, title, ...children);
}
