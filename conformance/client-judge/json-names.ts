/** Finds names that one JSON object has twice, which a parser does not show. RFC 8259, section 4 */

/** Nesting beyond this depth is not examined. */
const DEPTH_MAX = 100;
/** A string that does not end is a token too, so that no text is read more than once. */
const jsonTokens = /"(?:[^"\\]|\\[\s\S])*"?|[{}[\],:]/g;

/** Returns a name that an object in the JSON text has twice; undefined if there is none. */
export function doubledName(body: Buffer | undefined): string | undefined {
  const openContainers: { readonly names: Set<string> | undefined; isName: boolean }[] = [];
  for (const [token] of (body ?? Buffer.alloc(0)).toString('utf8').matchAll(jsonTokens)) {
    const inner = openContainers.at(-1);
    if (token === '{') openContainers.push({ names: new Set(), isName: true });
    else if (token === '[') openContainers.push({ names: undefined, isName: false });
    else if (token === '}' || token === ']') openContainers.pop();
    else if (token === ',' && inner) inner.isName = inner.names !== undefined;
    else if (token === ':' && inner) inner.isName = false;
    else if (inner?.isName && inner.names) {
      if (inner.names.has(token)) return token.slice(1, -1);
      inner.names.add(token);
    }
    if (openContainers.length > DEPTH_MAX) return undefined;
  }
  return undefined;
}
