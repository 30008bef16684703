/**
 * Names a place in a plan the way its author wrote it: in the names of a plan file, which are also
 * those of the options.
 */
import type * as v from 'valibot';
import type { OptionRow } from './option-row.ts';
import { options } from './options.ts';

const rows: Readonly<Record<string, OptionRow>> = options;

/** Plan-file names of plan fields, where they differ; then those within fields. */
const wordOfField: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(rows).flatMap(([word, { field }]) =>
      field === undefined ? [] : [[field, word]],
    ),
  ),
  acceptWith: 'accept',
  leastMs: 'least',
  mostMs: 'most',
  latencyMs: 'latency',
  jitterMs: 'jitter',
  lossShare: 'loss',
  atMs: 'at',
  withinMs: 'within',
  lastingMs: 'lasting',
  batchPercent: 'batch',
  afterMs: 'after',
};

/** Plan-file names of members of fields that a plan file does not nest. */
const wordOfMember: Readonly<Record<string, string>> = {
  'rsaPool.size': 'rsaPool',
  'rsaPool.bits': 'rsaBits',
  'rsaPool.folder': 'rsaPoolFolder',
  'tls.caPem': 'ca',
  'tls.certPem': 'cert',
  'tls.keyPem': 'key',
};

/** A step of a path into a plan. */
type Step = Pick<v.IssuePathItem, 'key' | 'value'>;

/** Returns the place in dotted form, such as `cohort.0.poll`; undefined for the plan as a whole. */
export function placeInWords(path: readonly Step[]): string | undefined {
  const whole = wordOfMember[path.map(({ key }) => String(key)).join('.')];
  if (whole !== undefined) return whole;
  const words = path.flatMap((_, at) => wordAt(path, at));
  return words.length === 0 ? undefined : words.join('.');
}

/** Lists of a plan whose rows are members of an object in the file, keyed by the row's name. */
const namedRows: ReadonlySet<unknown> = new Set(['behaviours', 'arrivals']);

function wordAt(path: readonly Step[], at: number): readonly string[] {
  const key = String(path[at]?.key);
  const list = path[at - 2]?.key;
  if (namedRows.has(list)) return [];
  if (namedRows.has(path[at - 1]?.key)) {
    return path[at + 1]?.key === 'name' ? [] : [nameIn(path[at]?.value) ?? key];
  }
  if (list === 'stages' && key === 'durationMs') return [nameIn(path[at - 1]?.value) ?? key];
  return [wordOfField[key] ?? key];
}

function nameIn(row: unknown): string | undefined {
  const { name, event, kind }: Partial<Record<'name' | 'event' | 'kind', unknown>> = Object(row);
  const found = name ?? event ?? kind;
  return typeof found === 'string' ? found : undefined;
}
