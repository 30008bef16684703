/** The Link header of paged lists. RFC 8288, section 3 */

/** A target and its parameters, whose values may be quoted texts that hold commas. */
const link = /<([^<>]*)>((?:[^",<]|"(?:[^"\\]|\\.)*")*)/g;
/** One parameter: its name, then a quoted text or a token. */
const parameter = /;\s*([\w!#$&+.^`|~*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*))/g;

/** The URL of each relation, such as `next`; of several links with one relation the first. */
export function relationsOf(header: string | undefined): Readonly<Record<string, string>> {
  const found = [...(header ?? '').matchAll(link)].flatMap(([, url = '', rest = '']) =>
    typesIn(rest).map((type) => [type, url] as const),
  );
  return Object.fromEntries(found.toReversed());
}

/** The relation types that the first `rel` names. */
function typesIn(text: string): readonly string[] {
  const rel = [...text.matchAll(parameter)].find(([, name = '']) => name.toLowerCase() === 'rel');
  const [, , quoted, token] = rel ?? [];
  const types = (quoted ?? token ?? '').toLowerCase();
  return types.split(/\s+/).filter((type) => type !== '');
}
