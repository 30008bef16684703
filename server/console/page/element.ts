/** Creates elements. External text enters the page only here, and only as text. */

type Child = Node | string;

/** Creates an element with attributes and children; strings become text, never markup. */
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

/** Returns the page's element with this id. @throws Error when it is missing or of another kind */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${kind.name} #${id}`);
}

/** Returns a time of day, with its date when that is another day. @param iso ISO 8601 */
export function moment(iso: string): HTMLTimeElement {
  const at = new Date(iso);
  const isToday = at.toDateString() === new Date().toDateString();
  const shown = isToday ? at.toLocaleTimeString() : at.toLocaleString();
  return element('time', { datetime: iso, title: at.toLocaleString() }, shown);
}

/** Returns a word with a dot in the colour of its tone; the word alone has the same meaning. */
export function state(word: string, tone: Tone): HTMLElement {
  return element('span', { class: 'state', 'data-tone': tone }, word);
}

/** A state: succeeded, failed, in progress, not started. */
export type Tone = 'good' | 'bad' | 'busy' | 'waiting';
