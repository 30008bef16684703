/** Which rows of the schedule a recorded exchange uses: a deprecated call, deprecated fields. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { type ApiAddress, apiAddress, byLiterals, isOfForm } from './address.ts';
import { fieldIn } from './fields.ts';
import type { RecordedExchange } from './recording.ts';
import type { Schedule, ScheduleRow } from './schedule.ts';

/** What an exchange uses of the schedule. */
interface Uses {
  readonly rows: readonly ScheduleRow[];
  /** Rows of fields that the exchange may carry, in a body that was not recorded. */
  readonly unseen: readonly ScheduleRow[];
}

/** Finds the rows that exchanges use. */
export interface RowFinder {
  /** Undefined for an exchange with anything but this API. */
  usesOf(exchange: RecordedExchange): Uses | undefined;
}

/** A call as the schedule or the management API knows it; `row` only when it is deprecated. */
interface KnownCall {
  readonly method: string;
  readonly version: string;
  readonly form: string;
  readonly row?: ScheduleRow;
}

/** A finder for the rows of a schedule. */
export function rowFinder({ rows }: Schedule): RowFinder {
  const calls = knownCalls(rows);
  const fields = rows.filter(({ kind }) => kind === 'field');
  return {
    usesOf: (exchange) => {
      const address = apiAddress(exchange.pathname);
      if (!address) return undefined;
      const call = calledRow(calls, exchange.method, address);
      const found = fields
        .filter((row) => isCarrier(row, exchange.method, address))
        .map((row) => ({ row, presence: fieldIn(row, exchange) }));
      const rowsOf = (wanted: 'there' | 'unseen') =>
        found.filter(({ presence }) => presence === wanted).map(({ row }) => row);
      return { rows: [...(call ? [call] : []), ...rowsOf('there')], unseen: rowsOf('unseen') };
    },
  };
}

/**
 * The deprecated calls and beside them those that stay, so that a literal path wins over another's
 * parameter. Rows of the schedule come first: where both say the same, the row holds.
 */
function knownCalls(rows: readonly ScheduleRow[]): readonly KnownCall[] {
  const deprecated = rows
    .filter(({ kind }) => kind === 'call')
    .flatMap((row) =>
      row.versions.map((version) => ({ method: row.method, version, form: row.path, row })),
    );
  const successors = rows.flatMap(({ successor }) =>
    successor
      ? [{ ...successor, version: `management ${successor.version}`, form: successor.path }]
      : [],
  );
  const staying = Object.values(managementOperations).flatMap(({ method, path }) => {
    const address = apiAddress(path);
    return address ? [{ method, version: address.version, form: address.path }] : [];
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
    .filter(({ form }) => isOfForm(path, form))
    .toSorted((one, other) => byLiterals(one.form, other.form));
  return nearest?.row;
}

function isCarrier(row: ScheduleRow, method: string, { version, path }: ApiAddress): boolean {
  return (
    row.method === method &&
    row.versions.includes(version) &&
    [row.path, ...(row.alsoAt ?? [])].some((form) => isOfForm(path, form))
  );
}
