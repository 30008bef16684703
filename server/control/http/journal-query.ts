/** The query of the journal's paths: filters, each given once, and parameters of single paths. */

import type { Request } from 'express';
import * as v from 'valibot';
import { noSuchOperation, operationIds } from '../../../fixtures/contract/operation-ids.ts';
import { isTimestamp, queryInteger, timestampMs } from '../../../fixtures/contract/text.ts';
import { sentenceOf } from '../../../fixtures/shape-sentences.ts';
import { maskText } from '../../http/masking.ts';
import { entryKinds } from '../../journal/entry.ts';
import { type EntryFilter, matcher } from '../../journal/filter.ts';
import { deviceNamed, notOneDevice } from '../../journal/known-devices.ts';
import { journalOf } from '../../journal/tenant-journal.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import { refuse } from './answers.ts';

/** Entries in one answer. */
export const LIMIT_MAX = 500;
const LIMIT_DEFAULT = 100;
const TIMEOUT_MAX_SECONDS = 600;
const TIMEOUT_DEFAULT_SECONDS = 30;
const SEQUENCE_MAX = Number.MAX_SAFE_INTEGER;

const filled = v.pipe(v.string('must be given once'), v.nonEmpty('must not be empty'));
const moment = v.pipe(
  filled,
  v.check(isTimestamp, 'must be a date-time such as 2027-08-25T00:00:00Z'),
  v.transform(timestampMs),
);

/** Criteria of entries, also of the steps of an assertion. */
export const filterEntries = {
  kind: v.optional(v.picklist(entryKinds, `must be one of ${entryKinds.join(', ')}`)),
  operation: v.optional(v.picklist(operationIds, ({ input }) => noSuchOperation(input))),
  method: v.optional(filled),
  device: v.optional(filled),
  user: v.optional(filled),
  status: v.optional(
    v.pipe(
      filled,
      v.regex(/^(\d{3}|0|[1-5]xx)$/, 'must be a status such as 404 or 4xx, or 0 for no response'),
    ),
  ),
  deployment: v.optional(filled),
  text: v.optional(filled),
};

/** Moments of the tenant's time. */
export const periodEntries = {
  since: v.optional(moment),
  until: v.optional(moment),
};

const queryShape = v.strictObject({
  ...filterEntries,
  ...periodEntries,
  tenant: v.optional(filled),
  world: v.optional(filled),
  after: v.optional(queryInteger(0, SEQUENCE_MAX)),
  limit: v.optional(queryInteger(1, LIMIT_MAX), String(LIMIT_DEFAULT)),
  whole: v.optional(v.picklist(['true', 'false'], 'must be true or false'), 'false'),
  count: v.optional(queryInteger(1, LIMIT_MAX), '1'),
  timeoutSeconds: v.optional(
    v.pipe(
      filled,
      v.regex(/^\d{1,4}(\.\d{1,3})?$/, 'must be a number of seconds'),
      v.transform(Number),
      v.maxValue(TIMEOUT_MAX_SECONDS, `must be at most ${TIMEOUT_MAX_SECONDS}`),
    ),
    String(TIMEOUT_DEFAULT_SECONDS),
  ),
});

/** Parameters that not every path takes. */
const special = ['after', 'limit', 'whole', 'count', 'timeoutSeconds'] as const;

/** A checked query. */
export interface JournalQuery
  extends Pick<v.InferOutput<typeof queryShape>, (typeof special)[number]> {
  readonly filter: EntryFilter;
  readonly isWhole: boolean;
}

/** Refuses with the nearest names a device that neither the tenant nor its journal knows. */
export function requireKnownDevice(
  { device }: Pick<EntryFilter, 'device'>,
  tenant: Tenant,
  place: 'query' | 'body',
): void {
  if (device === undefined) return;
  const named = deviceNamed(tenant.store, device);
  if (!('nearest' in named)) return;
  const matches = matcher({ device }, tenant);
  for (const entry of journalOf(tenant).entries()) if (matches(entry)) return;
  refuse(400, maskText(`${place}: device: ${notOneDevice(named, 'there are no devices')}`));
}

/** The checked query; a wrong one is refused with 400. `takes` names the path's own parameters. */
export function readQuery(
  { query }: Request,
  takes: readonly (typeof special)[number][],
): JournalQuery {
  const foreign = special.find((name) => name in query && !takes.includes(name));
  if (foreign !== undefined) refuse(400, `query: ${foreign}: is not a parameter of this path`);
  const checked = v.safeParse(queryShape, query, { abortEarly: true });
  if (!checked.success) {
    const [issue] = checked.issues;
    const known = Object.keys({ ...filterEntries, ...periodEntries }).concat('tenant', takes);
    const told =
      issue.expected === 'never' ? `is unknown; the parameters are ${known.join(', ')}` : '';
    refuse(400, `query: ${v.getDotPath(issue) ?? ''}: ${told || sentenceOf(issue)}`);
  }
  const {
    since,
    until,
    tenant: _tenant,
    world: _world,
    after,
    limit,
    whole,
    count,
    timeoutSeconds,
    ...filter
  } = checked.output;
  return {
    filter: { ...filter, sinceMs: since, untilMs: until },
    ...{ after, limit, whole, count, timeoutSeconds },
    isWhole: whole === 'true',
  };
}
