/** Formats a journal entry as a curl command. Masked secrets become shell variables. */
import { shellWord } from '../../../../fixtures/formats/shell-word.ts';
import type { EntryView } from '../api/types.ts';

/** Headers that curl sets itself. */
const ownHeaders = new Set(['host', 'connection', 'content-length', 'accept-encoding']);

/**
 * Returns the command. It always uses http, because the journal does not record whether the
 * connection was encrypted.
 */
export function curlOf(entry: EntryView): string {
  const { method = 'GET', path = '/', requestHeaders = [], requestBody } = entry;
  const host = requestHeaders.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? 'localhost';
  const headers = requestHeaders
    .filter(([name]) => !ownHeaders.has(name.toLowerCase()))
    .map(([name, value]) =>
      name.toLowerCase() === 'authorization'
        ? '-H "Authorization: Bearer $TOKEN"'
        : `-H ${shellWord(`${name}: ${value}`)}`,
    );
  const body =
    requestBody === undefined
      ? []
      : [
          `--data-binary ${shellWord(typeof requestBody === 'string' ? requestBody : JSON.stringify(requestBody))}`,
        ];
  return [
    'curl -i',
    `-X ${shellWord(method)}`,
    ...headers,
    ...body,
    shellWord(`http://${host}${path}`),
  ].join(' ');
}
