/** How a user's search term is compared with a text: the whole, its beginning, or any part of it. */

/** What to compare with, and how. */
export interface TextSearch {
  readonly how: 'exact' | 'prefix' | 'part';
  readonly text: string;
}

/**
 * The whole text, or its beginning when the term ends in `*`; a star at the end of a text itself is
 * written as a backslash and a star. Capitals count.
 */
export function exactOrPrefix(term: string): TextSearch {
  if (term.endsWith('\\*')) return { how: 'exact', text: `${term.slice(0, -2)}*` };
  if (term.endsWith('*')) return { how: 'prefix', text: term.slice(0, -1) };
  return { how: 'exact', text: term };
}

/**
 * Any part of the text, or its beginning when the term ends in `*`. Capitals (of ASCII) do not
 * count: this is what people type into a search field.
 */
export function partOrPrefix(term: string): TextSearch {
  const search = exactOrPrefix(term);
  return search.how === 'prefix' ? search : { ...search, how: 'part' };
}
