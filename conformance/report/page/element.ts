/** Makes elements. Text from outside enters the page here only, and only as text. */

type Child = Node | string;

/** An element with attributes and children; strings become text, never markup. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** The element that the page has under this id. @throws Error when it is missing or of another kind */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${kind.name} #${id}`);
}

/** A table with a caption; a row is a list of cells, the first of which is its heading. */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  const head = element('tr', {}, ...columns.map((name) => element('th', { scope: 'col' }, name)));
  const body = rows.map(([first = '', ...rest]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, first),
      ...rest.map((cell) => element('td', {}, cell)),
    ),
  );
  const made = element(
    'table',
    {},
    element('caption', {}, caption),
    element('thead', {}, head),
    element('tbody', {}, ...body),
  );
  if (rows.length === 0) {
    return element('p', { class: 'hint' }, `${caption}: nothing to show.`);
  }
  return element('div', { class: 'scroll' }, made);
}

/** A verdict as a word in the colour of its tone; the word alone says it too. */
export function verdictMark(verdict: string): HTMLElement {
  return element('span', { class: 'mark', 'data-verdict': verdict }, verdict);
}
