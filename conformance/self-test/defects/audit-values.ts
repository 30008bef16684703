/** Defects in filters of the audit log for particular values, and beside other parameters. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { membersOf } from '../../target/json-members.ts';
import { isSuccess, listOf, queryOf, withHeaders, withJson, withQuery } from '../alter.ts';
import { requestBecomes, responseBecomes } from '../alterations.ts';
import type { Alteration, Defect } from '../defect.ts';

const operations = ['list-audit-logs'] as const;

/** Entries that a loose filter reads of the log. */
const READ_MAX = '100';

interface Filter {
  readonly name: string;
  readonly requirement: RequirementId;
  readonly path: readonly string[];
}

const deploymentName: Filter = {
  name: 'object_deployment_name',
  requirement: 'audit.object-deployment-name-filter',
  path: ['object', 'deployment', 'name'],
};
const actorId: Filter = {
  name: 'actor_id',
  requirement: 'audit.actor-filters',
  path: ['actor', 'id'],
};
const actorEmail: Filter = {
  name: 'actor_email',
  requirement: 'audit.actor-email-filter',
  path: ['actor', 'email'],
};

function textAt(entry: unknown, path: readonly string[]): string {
  return String(path.reduce((value, name) => membersOf(value)[name], entry) ?? '');
}

/** Lists the entries whose value a looser or stricter comparison finds. */
function comparedBy(
  { name, path }: Filter,
  matches: (value: string, filterValue: string) => boolean,
): () => Alteration {
  return responseBecomes(async (response, request, send) => {
    const query = queryOf(request);
    const filterValue = query.get(name) ?? '';
    if (!isSuccess(response) || filterValue === '') return response;
    const changes = { [name]: undefined, page: undefined, per_page: READ_MAX };
    const all = listOf(await send(withQuery(request, changes)));
    const matchingEntries = all.filter((entry) => matches(textAt(entry, path), filterValue));
    if (String(matchingEntries.length) === response.headers['x-total-count']) return response;
    const size = Number(query.get('per_page') ?? 20);
    const firstIndex = (Number(query.get('page') ?? 1) - 1) * size;
    const page = withJson(response, matchingEntries.slice(firstIndex, firstIndex + size));
    return withHeaders(page, { 'x-total-count': String(matchingEntries.length) });
  });
}

function comparison(
  id: string,
  title: string,
  {
    filter,
    matches,
  }: {
    readonly filter: Filter;
    readonly matches: (value: string, filterValue: string) => boolean;
  },
): Defect {
  const violates = [filter.requirement] as const;
  return { id, title, violates, operations, alter: comparedBy(filter, matches) };
}

/** Returns true if the pattern of SQL matches the value. */
function isLike(value: string, pattern: string): boolean {
  const signs: Readonly<Record<string, string>> = { '%': '.*', _: '.' };
  const parts = [...pattern].map(
    (sign) => signs[sign] ?? sign.replace(/[\\^$.*+?()[\]{}|]/, '\\$&'),
  );
  return new RegExp(`^${parts.join('')}$`, 's').test(value);
}

const comparisons: readonly Defect[] = [
  comparison('audit-deployment-name-matches-prefixes', 'A name also finds longer names.', {
    filter: deploymentName,
    matches: (value, filterValue) => value.startsWith(filterValue),
  }),
  comparison('audit-deployment-name-matches-anywhere', 'A name also finds names that contain it.', {
    filter: deploymentName,
    matches: (value, filterValue) => value.includes(filterValue),
  }),
  comparison('audit-deployment-name-in-any-letters', 'The letter case of a name is ignored.', {
    filter: deploymentName,
    matches: (value, filterValue) => value.toLowerCase() === filterValue.toLowerCase(),
  }),
  comparison('audit-deployment-name-is-a-pattern', 'A name is a pattern of SQL.', {
    filter: deploymentName,
    matches: isLike,
  }),
  comparison('audit-deployment-name-is-ascii', 'A name beyond ASCII finds no entry.', {
    filter: deploymentName,
    matches: (value, filterValue) => value === filterValue && !/[^\0-\x7f]/.test(filterValue),
  }),
  comparison('audit-deployment-name-loses-its-end', 'A name is read up to the sign `&`.', {
    filter: deploymentName,
    matches: (value, filterValue) => value === filterValue.split('&')[0],
  }),
  comparison('audit-actor-id-matches-prefixes', 'The beginning of an actor ID finds it.', {
    filter: actorId,
    matches: (value, filterValue) => value.startsWith(filterValue),
  }),
  comparison('audit-actor-id-matches-its-end', 'The end of an actor ID finds it.', {
    filter: actorId,
    matches: (value, filterValue) => value.endsWith(filterValue),
  }),
  comparison('audit-actor-email-is-a-pattern', 'An email address is a pattern of SQL.', {
    filter: actorEmail,
    matches: isLike,
  }),
];

/** A filter that is ignored beside another parameter. */
const ignored: readonly (readonly [name: string, beside: string, requirement: RequirementId])[] = [
  ['actor_id', 'object_type', 'audit.actor-filters'],
  ['actor_type', 'actor_id', 'audit.actor-type-filter'],
  ['actor_email', 'created_after', 'audit.actor-email-filter'],
  ['object_type', 'object_deployment_name', 'audit.object-type-filter'],
  ['object_deployment_name', 'actor_type', 'audit.object-deployment-name-filter'],
  ['created_after', 'created_before', 'audit.time-bounds'],
  ['created_before', 'sort', 'audit.created-before'],
];

export const auditValueDefects: readonly Defect[] = [
  ...comparisons,
  ...ignored.map(
    ([name, beside, requirement]): Defect => ({
      id: `audit-${name}-is-ignored-beside-${beside}`.replaceAll('_', '-'),
      title: `The filter \`${name}\` is ignored in a request that also has \`${beside}\`.`,
      violates: [requirement, 'audit.filters-combine'],
      operations,
      alter: requestBecomes(
        (request) => withQuery(request, { [name]: undefined }),
        (request) => queryOf(request).has(name) && queryOf(request).has(beside),
      ),
    }),
  ),
  {
    id: 'audit-plus-in-an-email-is-a-space',
    title: 'A plus in actor_email is decoded twice, and read as a space.',
    violates: ['audit.actor-email-filter', 'audit.export-actor-email'],
    operations: ['list-audit-logs', 'export-audit-logs'],
    alter: requestBecomes(
      (request) =>
        withQuery(request, {
          actor_email: queryOf(request).get('actor_email')?.replaceAll('+', ' '),
        }),
      (request) => queryOf(request).get('actor_email')?.includes('+') ?? false,
    ),
  },
  {
    id: 'audit-large-pages-are-cut',
    title: 'A page of 500 entries is cut to two, and no link leads to the others.',
    violates: ['audit.link-next', 'audit.pages', 'audit.per-page'],
    operations,
    alter: responseBecomes((response, request) => {
      const isLarge = queryOf(request).get('per_page') === '500';
      return isLarge && isSuccess(response)
        ? withJson(response, listOf(response).slice(0, 2))
        : response;
    }),
  },
];
