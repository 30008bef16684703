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

/** A moment as a time of day, with its date when that is another day. @param iso ISO 8601 */
export function moment(iso: string): HTMLTimeElement {
  const at = new Date(iso);
  const isToday = at.toDateString() === new Date().toDateString();
  const shown = isToday ? at.toLocaleTimeString() : at.toLocaleString();
  return element('time', { datetime: iso, title: at.toLocaleString() }, shown);
}

/** A word with a dot in the colour of its tone; the word alone says it too. */
export function state(word: string, tone: Tone): HTMLElement {
  return element('span', { class: 'state', 'data-tone': tone }, word);
}

/** How something stands: done well, gone wrong, underway, not begun. */
export type Tone = 'good' | 'bad' | 'busy' | 'waiting';
