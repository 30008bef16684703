/** The Link header of paged lists. RFC 8288, section 3 */

/** Matches one link: the URL and its parameters, whose values may be quoted and contain commas. */
const link = /<([^<>]*)>((?:[^",<]|"(?:[^"\\]|\\.)*")*)/g;
/** Matches one parameter: a name, and a quoted text or a token as its value. */
const parameter = /;\s*([\w!#$&+.^`|~*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*))/g;

/** Returns the URL of each relation, such as `next`; the first one if a relation is repeated. */
export function relationsOf(header: string | undefined): Readonly<Record<string, string>> {
  const relations = [...(header ?? '').matchAll(link)].flatMap(([, url = '', parameters = '']) =>
    typesIn(parameters).map((type) => [type, url] as const),
  );
  return Object.fromEntries(relations.toReversed());
}

/** Returns the relation types in the first `rel` parameter. */
function typesIn(text: string): readonly string[] {
  const rel = [...text.matchAll(parameter)].find(([, name = '']) => name.toLowerCase() === 'rel');
  const [, , quoted, token] = rel ?? [];
  const types = (quoted ?? token ?? '').toLowerCase();
  return types.split(/\s+/).filter((type) => type !== '');
}
