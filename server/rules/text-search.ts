/** Interprets a user's search term: it matches a whole text, a prefix of it, or any part of it. */

/** The text to search for, and how it must match. */
export interface TextSearch {
  readonly how: 'exact' | 'prefix' | 'part';
  readonly text: string;
}

/**
 * Matches the whole text, or a prefix of it when the term ends in `*`; a literal `*` at the end is
 * written `\*`. Case-sensitive.
 */
export function exactOrPrefix(term: string): TextSearch {
  if (term.endsWith('\\*')) return { how: 'exact', text: `${term.slice(0, -2)}*` };
  if (term.endsWith('*')) return { how: 'prefix', text: term.slice(0, -1) };
  return { how: 'exact', text: term };
}

/**
 * Matches any part of the text, ignoring the case of ASCII letters; or a prefix of it,
 * case-sensitive, when the term ends in `*`. For terms that people type into a search field.
 */
export function partOrPrefix(term: string): TextSearch {
  const search = exactOrPrefix(term);
  return search.how === 'prefix' ? search : { ...search, how: 'part' };
}
