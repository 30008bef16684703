/** Finds the rows of the schedule (deprecated calls and fields) that a recorded exchange uses. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { type ApiAddress, apiAddress, compareTemplates, matchesTemplate } from './address.ts';
import { fieldIn } from './fields.ts';
import type { RecordedExchange } from './recording.ts';
import type { Schedule, ScheduleRow } from './schedule.ts';

/** The rows of the schedule that an exchange uses. */
interface UsedRows {
  readonly rows: readonly ScheduleRow[];
  /** Rows of fields that the exchange may use in a body that was not recorded. */
  readonly unseen: readonly ScheduleRow[];
}

/** Finds the rows that exchanges use. */
export interface RowFinder {
  /** Returns the rows that an exchange uses; undefined if it is not a call of this API. */
  usesOf(exchange: RecordedExchange): UsedRows | undefined;
}

/** A call of the schedule or of the management API; `row` is present if the call is deprecated. */
interface KnownCall {
  readonly method: string;
  readonly version: string;
  readonly template: string;
  readonly row?: ScheduleRow;
}

/** Returns a finder for the rows of a schedule. */
export function rowFinder({ rows }: Schedule): RowFinder {
  const calls = knownCalls(rows);
  const fields = rows.filter(({ kind }) => kind === 'field');
  return {
    usesOf: (exchange) => {
      const address = apiAddress(exchange.pathname);
      if (!address) return undefined;
      const call = calledRow(calls, exchange.method, address);
      const fieldRows = fields
        .filter((row) => isCarrier(row, exchange.method, address))
        .map((row) => ({ row, presence: fieldIn(row, exchange) }));
      const rowsOf = (wanted: 'there' | 'unseen') =>
        fieldRows.filter(({ presence }) => presence === wanted).map(({ row }) => row);
      return { rows: [...(call ? [call] : []), ...rowsOf('there')], unseen: rowsOf('unseen') };
    },
  };
}

/**
 * Returns all known calls, deprecated or not, so that a literal path of one call takes precedence
 * over a parameter in the path of another. Deprecated calls come first, so that they win when a
 * call is listed twice.
 */
function knownCalls(rows: readonly ScheduleRow[]): readonly KnownCall[] {
  const deprecated = rows
    .filter(({ kind }) => kind === 'call')
    .flatMap((row) =>
      row.versions.map((version) => ({ method: row.method, version, template: row.path, row })),
    );
  const successors = rows.flatMap(({ successor }) =>
    successor
      ? [{ ...successor, version: `management ${successor.version}`, template: successor.path }]
      : [],
  );
  const staying = Object.values(managementOperations).flatMap(({ method, path }) => {
    const address = apiAddress(path);
    return address ? [{ method, version: address.version, template: address.path }] : [];
  });
  return [...deprecated, ...successors, ...staying];
}

function calledRow(
  calls: readonly KnownCall[],
  method: string,
  { version, path }: ApiAddress,
): ScheduleRow | undefined {
  const [nearest] = calls
    .filter((call) => call.method === method && call.version === version)
    .filter(({ template }) => matchesTemplate(path, template))
    .toSorted((one, other) => compareTemplates(one.template, other.template));
  return nearest?.row;
}

function isCarrier(row: ScheduleRow, method: string, { version, path }: ApiAddress): boolean {
  return (
    row.method === method &&
    row.versions.includes(version) &&
    [row.path, ...(row.alsoAt ?? [])].some((template) => matchesTemplate(path, template))
  );
}
