/** Selects cases, or planted defects, by IDs and by the prefixes of IDs. */
import { nearestOf } from '../../fixtures/base/nearest.ts';
import { SetupError } from '../target/setup-error.ts';
import { presentId } from './former-ids.ts';

/** An ID, or a prefix of one, matches nothing. The message has no final period. */
export class UnknownIdError extends SetupError {
  readonly code = 'unknown-id';

  constructor(message: string) {
    super(message);
    this.name = 'UnknownIdError';
  }
}

/**
 * Returns the rows whose ID starts with one of the given prefixes; all rows if none is given. A
 * former ID selects the case of today.
 * @param noun what the rows are, such as `case`
 * @throws UnknownIdError for each prefix that matches no row, whatever the others match: a typing
 * error would otherwise only make the selection smaller
 */
export function selectedRows<Row extends { readonly id: string }>(
  rows: readonly Row[],
  wantedIds: readonly string[],
  noun: string,
): readonly Row[] {
  if (wantedIds.length === 0) return rows;
  const prefixes = wantedIds.map(presentId);
  if (prefixes.includes('')) {
    throw new UnknownIdError(`the ID of a ${noun} is empty; leave it out to select every ${noun}`);
  }
  const unmatched = prefixes.filter((each) => !rows.some(({ id }) => id.startsWith(each)));
  if (unmatched.length === 0) {
    return rows.filter(({ id }) => prefixes.some((each) => id.startsWith(each)));
  }
  const ids = rows.map(({ id }) => id);
  const names = unmatched.map((each) => withNearest(each, [...areasOf(ids), ...ids]));
  const none = `no ${noun} has an ID that starts with`;
  throw new UnknownIdError(`${none} ${names.join(' or ')}; --list shows them all`);
}

/** Returns an unknown ID in quotes, with the known IDs that are nearest to it. */
export function withNearest(given: string, known: readonly string[]): string {
  return `"${given}" (nearest: ${nearestOf(given, known).join(', ')})`;
}

function areasOf(ids: readonly string[]): readonly string[] {
  return ids.filter((id) => id.includes('/')).map((id) => id.slice(0, id.indexOf('/') + 1));
}
