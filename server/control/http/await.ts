/** Waiting for entries of a journal in place of sleeping, and asserting what has happened. */

import type { Express, Response } from 'express';
import * as v from 'valibot';
import { type Clock, inTurns } from '../../../fixtures/clock.ts';
import { deviceDeploymentStatuses } from '../../../fixtures/contract/vocabulary.ts';
import { entryView } from '../../explain/entry-view.ts';
import { Judge } from '../../journal/assertion.ts';
import { matcher } from '../../journal/filter.ts';
import { journalOf } from '../../journal/tenant-journal.ts';
import type { Tenant, Tenants } from '../../tenants/tenants.ts';
import { awaitEntries, type Came } from '../commands/await.ts';
import { mount, readBody, refuse } from './answers.ts';
import { journalHandlers, standing } from './journal.ts';
import {
  filterEntries,
  type JournalQuery,
  periodEntries,
  readQuery,
  requireKnownDevice,
} from './journal-query.ts';
import { mapped, sendListing } from './listing.ts';

/** Requests that wait at the same time. */
const WAITING_MAX = 256;
const STEPS_MAX = 50;
const TIMES_MAX = 1_000_000;

const wholeNumber = (least: number) =>
  v.pipe(
    v.number('must be a number'),
    v.safeInteger('must be a whole number'),
    v.minValue(least, `must be at least ${least}`),
    v.maxValue(TIMES_MAX, `must be at most ${TIMES_MAX}`),
  );

const badStatus = 'must be a number such as 204, or a class such as "4xx"';
const { device, ...stepEntries } = filterEntries;

const stepShape = v.pipe(
  v.strictObject({
    ...stepEntries,
    status: v.optional(
      v.union(
        [
          v.pipe(wholeNumber(0), v.transform(String)),
          v.pipe(v.string(), v.regex(/^[1-5]xx$/, badStatus)),
        ],
        badStatus,
      ),
    ),
    report: v.optional(
      v.picklist(deviceDeploymentStatuses, `must be one of ${deviceDeploymentStatuses.join(', ')}`),
    ),
  }),
  v.check((step) => Object.values(step).some((given) => given !== undefined), 'must not be empty'),
);

const assertionShape = v.strictObject({
  device,
  happened: v.pipe(
    v.array(stepShape, 'must be a list of steps'),
    v.minLength(1, 'must have at least one step'),
    v.maxLength(STEPS_MAX, `must have at most ${STEPS_MAX} steps`),
  ),
  times: v.optional(wholeNumber(0)),
  between: v.optional(
    v.strictObject({
      ...periodEntries,
      after: v.optional(wholeNumber(0)),
      before: v.optional(wholeNumber(1)),
    }),
  ),
});

/** Mounts the paths that wait and assert. `clock` is the machine's own: a tenant's may stand still. */
export function mountAwait(app: Express, tenants: Tenants, clock: Clock): void {
  const within = journalHandlers(tenants);
  let waiting = 0;
  mount(app, '/await', {
    get: within(async (tenant, request, response) => {
      const query = readQuery(request, ['after', 'whole', 'count', 'timeoutSeconds']);
      if (waiting >= WAITING_MAX) {
        refuse(503, `${WAITING_MAX} requests are already waiting; end one of them first`);
      }
      waiting += 1;
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      if (response.destroyed) gone.abort();
      const awaited = awaitEntries(tenant, { ...query, clock, gone: gone.signal });
      const came = await awaited.finally(() => {
        waiting -= 1;
      });
      await answer(response, { tenant, query, came });
    }, 'any'),
  });
  mount(app, '/assert', {
    post: within(async (tenant, request) => {
      const { between = {}, ...assertion } = readBody(assertionShape, request);
      requireKnownDevice(assertion, tenant, 'body');
      const matches = matcher({ sinceMs: between.since, untilMs: between.until }, tenant);
      const judge = new Judge(assertion, tenant);
      const { added } = journalOf(tenant).size;
      const before = Math.min(between.before ?? Number.POSITIVE_INFINITY, added + 1);
      for await (const entry of inTurns(journalOf(tenant).entries(between.after))) {
        if (entry.sequence >= before) break;
        if (matches(entry)) judge.see(entry);
      }
      const verdict = judge.verdict();
      const { dropped } = journalOf(tenant).size;
      const lost = dropped > 0 ? ` ${dropped} older entries are no longer kept.` : '';
      const sentence = verdict.sentence + lost;
      const members = { ...verdict, sentence, ...standing(tenant) };
      if (!verdict.holds) refuse(409, sentence, members);
      return members;
    }),
  });
}

async function answer(
  response: Response,
  { tenant, query, came }: { tenant: Tenant; query: JournalQuery; came: Came },
): Promise<void> {
  if (response.destroyed) return;
  const { matching, others } = came;
  const entries = mapped(matching, (entry) => entryView(entry, tenant, query.isWhole));
  const next = journalOf(tenant).size.added;
  if (matching.length >= query.count) {
    const facts = { ...standing(tenant), next: matching.at(-1)?.sequence ?? next };
    await sendListing(response, facts, { entries });
    return;
  }
  const { count, timeoutSeconds } = query;
  const wanted =
    count === 1 ? 'no entry matched' : `${matching.length} of ${count} entries matched`;
  const error = `${wanted} within ${timeoutSeconds} s; "instead" lists the entries that came instead`;
  const instead = mapped(others, (entry) => entryView(entry, tenant));
  response.status(408);
  await sendListing(response, { error, ...standing(tenant), next }, { entries, instead });
}
