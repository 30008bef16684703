/** The Link header of paged lists. RFC 8288 */

const link = /<([^<>]*)>\s*;[^,<]*?\brel="?([\w-]+)"?/gi;

/** Returns the URL of each relation, such as `next`. */
export function relationsOf(header: string | undefined): Readonly<Record<string, string>> {
  const found = [...(header ?? '').matchAll(link)];
  return Object.fromEntries(
    found.map(([, url = '', relation = '']) => [relation.toLowerCase(), url]),
  );
}
