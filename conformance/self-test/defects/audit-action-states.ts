/** Defects in which actions the audit log records, by whom, and which values select an entry. */
import { readCsv } from '../../target/csv.ts';
import { entriesOf, membersOf } from '../../target/json-members.ts';
import {
  changedAt,
  isSuccess,
  jsonOf,
  objectOf,
  ownResponse,
  queryOf,
  tokenOf,
  withJson,
  withText,
} from '../alter.ts';
import { bodyBecomes, responseBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';
import { requestFor } from '../requests.ts';

const list = ['list-audit-logs'] as const;
const csv = ['export-audit-logs'] as const;
const auditReads = [...list, ...csv] as const;

function textAt(entry: unknown, path: string): string {
  const value = path.split('.').reduce<unknown>((from, name) => membersOf(from)[name], entry);
  return typeof value === 'string' ? value : '';
}

/** Changes the entries of a list, newest first. */
function changedList(
  response: ProxiedResponse,
  change: (entries: readonly unknown[]) => readonly unknown[],
): ProxiedResponse {
  const listBody = isSuccess(response) ? jsonOf(response) : undefined;
  return Array.isArray(listBody) ? withJson(response, change(listBody)) : response;
}

/** Changes each entry of a list by what was recorded of earlier exchanges of other operations. */
function afterLearning<Fact>(
  record: (
    response: ProxiedResponse,
    request: ProxiedRequest,
    facts: Fact[],
  ) => Promise<void> | void,
  change: (entry: unknown, facts: readonly Fact[]) => readonly unknown[],
): () => Alteration {
  return () => {
    const facts: Fact[] = [];
    return {
      response: async (response, request) => {
        if (request.operation === 'list-audit-logs') {
          return changedList(response, (entries) => entries.flatMap((each) => change(each, facts)));
        }
        await record(response, request, facts);
        return response;
      },
    };
  };
}

/** Returns the last segment of the Location of a created resource. */
function createdId({ headers }: ProxiedResponse): string {
  return headers.location?.split('/').at(-1) ?? '';
}

/** Records the decommissioning of accepted devices as their deletion. */
function deletionOfAccepted(): Alteration {
  const acceptedIds = new Set<string>();
  return {
    request: async (request, ask) => {
      const { id = '' } = request.parameters;
      if (request.operation !== 'decommission-device') return request;
      const deviceResponse = await ask(
        requestFor('get-device', { parameters: { id }, token: tokenOf(request) }),
      );
      if (objectOf(deviceResponse).status === 'accepted') acceptedIds.add(id);
      return request;
    },
    response: (response, request) =>
      request.operation !== 'list-audit-logs'
        ? response
        : changedList(response, (entries) =>
            entries.map((entry) =>
              acceptedIds.has(textAt(entry, 'object.id'))
                ? changedAt(entry, 'action', (action) =>
                    action === 'decommission' ? 'delete' : action,
                  )
                : entry,
            ),
          ),
  };
}

/** Answers an empty list, or an export without records, to the queries that `isLost` selects. */
function findsNothing(isLost: (query: URLSearchParams) => boolean): () => Alteration {
  return responseBecomes((response, request) => {
    if (!isSuccess(response) || !isLost(queryOf(request))) return response;
    if (request.operation === 'list-audit-logs') return withJson(response, []);
    return withText(response, `${response.body.toString().split('\r\n')[0]}\r\n`);
  });
}

const actionDefects: readonly Defect[] = [
  {
    id: 'audit-rejection-of-a-pending-device-is-missing',
    title: 'The rejection of a device that was never accepted has no entry.',
    violates: ['audit.device-rejected'],
    operations: list,
    alter: bodyBecomes((body) =>
      entriesOf(body).filter((entry) => !textAt(entry, 'change').includes('pending -> rejected')),
    ),
  },
  {
    id: 'audit-decommission-of-an-accepted-device-is-a-delete',
    title: 'The decommissioning of an accepted device is recorded as `delete`.',
    violates: ['audit.device-decommissioned'],
    operations: [...list, 'decommission-device'],
    alter: deletionOfAccepted,
  },
  {
    id: 'audit-creation-is-recorded-for-each-device',
    title: 'The creation of a deployment of several devices has an entry for each device.',
    violates: ['audit.one-entry-per-action'],
    operations: [...list, 'create-deployment'],
    alter: afterLearning<{ readonly id: string; readonly count: number }>(
      (response, request, creationTimes) => {
        const count = entriesOf(objectOf(request).devices).length;
        if (response.status === 201) creationTimes.push({ id: createdId(response), count });
      },
      (entry, creationTimes) => {
        const { count = 1 } =
          creationTimes.find(({ id }) => id === textAt(entry, 'object.id')) ?? {};
        return textAt(entry, 'action') === 'create' ? Array(count).fill(entry) : [entry];
      },
    ),
  },
  {
    id: 'audit-refused-abort-is-recorded',
    title: 'The abort of a finished deployment is refused, and yet has an entry.',
    violates: ['audit.one-entry-per-action'],
    operations: [...list, 'abort-deployment'],
    alter: afterLearning<string>(
      ({ status }, { parameters }, refusedIds) => {
        if (status >= 400) refusedIds.push(parameters.id ?? '');
      },
      (entry, refusedIds) => {
        const isHit = refusedIds.includes(textAt(entry, 'object.id'));
        const isFirst = textAt(entry, 'action') === 'create';
        return isHit && isFirst ? [changedAt(entry, 'action', () => 'abort'), entry] : [entry];
      },
    ),
  },
  {
    id: 'audit-deletion-of-an-artifact-is-an-update',
    title: 'The deletion of an artifact is recorded as `update`.',
    violates: ['audit.artifact-changed'],
    operations: list,
    alter: bodyBecomes((body) =>
      entriesOf(body).map((entry) =>
        textAt(entry, 'object.type') === 'artifact'
          ? changedAt(entry, 'action', (action) => (action === 'delete' ? 'update' : action))
          : entry,
      ),
    ),
  },
  {
    id: 'audit-configuration-deployment-is-missing',
    title: 'The deployment of a configuration has no entry.',
    violates: ['audit.one-entry-per-action'],
    operations: list,
    alter: bodyBecomes((body) =>
      entriesOf(body).filter(
        (entry) => !textAt(entry, 'object.deployment.name').startsWith('configuration'),
      ),
    ),
  },
];

/** The actor of the oldest entry acts in all entries of users. */
function oneActor(entries: readonly unknown[]): readonly unknown[] {
  const isOfUser = (entry: unknown): boolean => textAt(entry, 'actor.type') === 'user';
  const { actor } = membersOf(entries.findLast(isOfUser));
  return entries.map((entry) => (isOfUser(entry) ? changedAt(entry, 'actor', () => actor) : entry));
}

/** Each deployment has the artifact name of the oldest one with its name. */
function firstReleases(entries: readonly unknown[]): readonly unknown[] {
  const oldestReleases = new Map<string, string>();
  for (const entry of entries.toReversed()) {
    const name = textAt(entry, 'object.deployment.name');
    if (!oldestReleases.has(name))
      oldestReleases.set(name, textAt(entry, 'object.deployment.artifact_name'));
  }
  return entries.map((entry) =>
    changedAt(entry, 'object.deployment.artifact_name', () =>
      oldestReleases.get(textAt(entry, 'object.deployment.name')),
    ),
  );
}

const actors: readonly Defect[] = [
  {
    id: 'audit-actor-is-the-first-user',
    title: 'The actor of every entry is the user who acted first.',
    violates: ['audit.actor-id'],
    operations: list,
    alter: bodyBecomes((body) => oneActor(entriesOf(body))),
  },
  {
    id: 'audit-actor-is-the-personal-token',
    title: 'The actor of an abort by a personal access token is the token.',
    violates: ['audit.actor-id'],
    operations: [...list, 'create-personal-token', 'abort-deployment'],
    alter: () => {
      const tokens = new Set<string>();
      const aborted = new Set<string>();
      return {
        response: (response, request) => {
          const { operation, parameters } = request;
          if (operation === 'create-personal-token') tokens.add(response.body.toString());
          if (operation === 'abort-deployment' && tokens.has(tokenOf(request))) {
            aborted.add(parameters.id ?? '');
          }
          if (operation !== 'list-audit-logs') return response;
          return changedList(response, (entries) =>
            entries.map((entry) =>
              textAt(entry, 'action') === 'abort' && aborted.has(textAt(entry, 'object.id'))
                ? changedAt(entry, 'actor.id', (id) => `token of ${id}`)
                : entry,
            ),
          );
        },
      };
    },
  },
  {
    id: 'audit-entries-of-a-removed-user-lose-the-address',
    title: 'Once a user is deleted, the entries of that user have no `actor.email`.',
    violates: ['audit.entries-last'],
    operations: [...list, 'delete-user'],
    alter: afterLearning<string>(
      ({ status }, { parameters }, removed) => {
        if (status === 204) removed.push(parameters.id ?? '');
      },
      (entry, removed) => [
        removed.includes(textAt(entry, 'actor.id'))
          ? changedAt(entry, 'actor.email', () => undefined)
          : entry,
      ],
    ),
  },
  {
    id: 'audit-name-keeps-its-first-release',
    title: 'Of two deployments with one name, both entries have the artifact name of the first.',
    violates: ['audit.object-deployment-artifact-name'],
    operations: list,
    alter: bodyBecomes((body) => (Array.isArray(body) ? firstReleases(body) : body)),
  },
];

const selections: readonly Defect[] = [
  {
    id: 'audit-actor-id-finds-no-device',
    title: 'The list finds nothing for the ID of a device as actor, unless the type is given too.',
    violates: ['audit.actor-filters'],
    operations: list,
    alter: responseBecomes((response, request) => {
      const query = queryOf(request);
      if (!query.has('actor_id') || query.has('actor_type')) return response;
      return changedList(response, (entries) =>
        entries.filter((entry) => textAt(entry, 'actor.type') !== 'device'),
      );
    }),
  },
  {
    id: 'audit-actor-type-finds-no-device',
    title: 'The list finds nothing for the actor type `device`.',
    violates: ['audit.actor-type-filter'],
    operations: list,
    alter: findsNothing((query) => query.get('actor_type') === 'device'),
  },
  {
    id: 'audit-object-id-finds-no-artifact',
    title: 'The list finds nothing for the ID of an artifact beside its type.',
    violates: ['audit.object-type-filter'],
    operations: list,
    alter: findsNothing(
      (query) => query.has('object_id') && query.get('object_type') === 'artifact',
    ),
  },
  {
    id: 'export-has-no-artifacts',
    title: 'The export finds nothing for the object type `artifact`.',
    violates: ['audit.export-object-type'],
    operations: csv,
    alter: findsNothing((query) => query.get('object_type') === 'artifact'),
  },
  {
    id: 'export-quotes-no-names',
    title:
      'The names in the first line of the export are not quoted, whatever separates their parts.',
    violates: ['audit.export-fields-are-quoted'],
    operations: csv,
    alter: responseBecomes((response) => {
      if (!isSuccess(response)) return response;
      const [headerLine = '', ...otherLines] = response.body.toString().split('\r\n');
      const [names = []] = readCsv(`${headerLine}\r\n`);
      return withText(response, [names.join(','), ...otherLines].join('\r\n'));
    }),
  },
];

/** Refuses the tokens that `isLost` selects among those that were issued, oldest first. */
function refusedTokens(
  issuedBy: 'create-personal-token' | 'login',
  isLost: (index: number, count: number) => boolean,
): () => Alteration {
  return () => {
    const issuedTokens = new Map<string, string[]>();
    return {
      response: (response, request) => {
        const { operation, headers } = request;
        if (operation === issuedBy) {
          const caller = headers.authorization ?? '';
          const { body } = response;
          if (response.status === 200)
            issuedTokens.set(caller, [...(issuedTokens.get(caller) ?? []), body.toString()]);
          return response;
        }
        const all = [...issuedTokens.values()].find((tokens) => tokens.includes(tokenOf(request)));
        const isHit = all && isLost(all.indexOf(tokenOf(request)), all.length);
        return isHit ? ownResponse(401, { error: 'unauthorized' }) : response;
      },
    };
  };
}

const tokens: readonly Defect[] = [
  {
    id: 'personal-token-opens-no-audit-log',
    title: 'A personal access token is refused by the audit log.',
    violates: ['tokens.login-opens-management'],
    operations: [...auditReads, 'create-personal-token'],
    alter: refusedTokens('create-personal-token', () => true),
  },
  {
    id: 'another-login-ends-the-first-token',
    title: 'When a user logs in again, the audit log refuses the earlier tokens of that user.',
    violates: ['tokens.login-opens-management'],
    operations: [...auditReads, 'login'],
    alter: refusedTokens('login', (index, count) => index < count - 1),
  },
];

/** Spec: AuditLog entry; Audit logs; Authentication */
export const auditActionStateDefects: readonly Defect[] = [
  ...actionDefects,
  ...actors,
  ...selections,
  ...tokens,
];
