/**
 * Corrects conditions and ranges of a file request for a library that deviates from HTTP in two
 * ways: it refuses a suffix longer than the file, and accepts dates that are not HTTP dates. RFC
 * 9110, sections 13.1 and 14.1.2
 */
import type { IncomingHttpHeaders } from 'node:http';

const dated = ['if-modified-since', 'if-unmodified-since'] as const;
const day = '(Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const month = '(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const time = '\\d{2}:\\d{2}:\\d{2}';
/** The three date formats: the current one, RFC 850, and asctime. */
const httpDate = new RegExp(
  `^(${day}, \\d{2} ${month} \\d{4} ${time} GMT|[A-Z][a-z]+day, \\d{2}-${month}-\\d{2} ${time} GMT|${day} ${month} [ \\d]\\d ${time} \\d{4})$`,
);

/**
 * Returns the headers without the conditions that HTTP ignores, and with a suffix that fits the
 * file.
 */
export function conditionsOf(
  headers: IncomingHttpHeaders,
  { sizeBytes }: { readonly sizeBytes: number },
): IncomingHttpHeaders {
  const kept = { ...headers };
  for (const name of dated) if (!httpDate.test(kept[name] ?? '')) delete kept[name];
  const [, suffix] = /^\s*bytes\s*=\s*-(\d+)\s*$/.exec(kept.range ?? '') ?? [];
  if (Number(suffix) > sizeBytes) kept.range = 'bytes=0-';
  return kept;
}
