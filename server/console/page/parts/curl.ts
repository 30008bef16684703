/** An exchange as a shell command; masked secrets become variables. */
import type { Entry } from '../api/types.ts';

/** Headers that curl sets itself, or would get wrong. */
const ownHeaders = new Set(['host', 'connection', 'content-length', 'accept-encoding']);

/** The line; the journal does not say whether the connection was encrypted. */
export function curlOf(entry: Entry): string {
  const { method = 'GET', path = '/', requestHeaders = [], requestBody } = entry;
  const host = requestHeaders.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? 'localhost';
  const headers = requestHeaders
    .filter(([name]) => !ownHeaders.has(name.toLowerCase()))
    .map(([name, value]) =>
      name.toLowerCase() === 'authorization'
        ? '-H "Authorization: Bearer $TOKEN"'
        : `-H ${quoted(`${name}: ${value}`)}`,
    );
  const body =
    requestBody === undefined
      ? []
      : [
          `--data-binary ${quoted(typeof requestBody === 'string' ? requestBody : JSON.stringify(requestBody))}`,
        ];
  return [
    'curl -i',
    `-X ${quoted(method)}`,
    ...headers,
    ...body,
    quoted(`http://${host}${path}`),
  ].join(' ');
}

/** Between single quotes a shell changes nothing; only the quote itself needs an escape. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
