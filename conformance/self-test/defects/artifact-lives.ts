/** Defects in artifacts and their links after an edit or a deletion. */
import { membersOf } from '../../target/json-members.ts';
import { changedAt, isSuccess, jsonOf, objectOf, queryOf, tokenOf, withJson } from '../alter.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';
import { requestFor } from '../requests.ts';

const COPY_MAX_MS = 5000;

/** Answers for deleted artifacts what was answered last while they existed. */
function stillThere(): Alteration {
  const earlierResponses = new Map<string, ProxiedResponse>();
  return {
    response: (response, { operation, parameters }) => {
      const key = `${operation} ${parameters.id}`;
      if (response.status === 200) earlierResponses.set(key, response);
      return response.status === 404 ? (earlierResponses.get(key) ?? response) : response;
    },
  };
}

/** Lists nothing of a release once one of its artifacts was deleted. */
function hidesReleases(): Alteration {
  const hidden = new Set<unknown>();
  return {
    request: async (request, ask) => {
      if (request.operation !== 'delete-artifact') return request;
      const token = tokenOf(request);
      const showRequest = requestFor('show-artifact', { parameters: request.parameters, token });
      hidden.add(objectOf(await ask(showRequest)).name);
      return request;
    },
    response: (response, request) =>
      request.operation === 'list-artifacts' && hidden.has(queryOf(request).get('release_name'))
        ? withJson(response, [])
        : response,
  };
}

/** Answers a list with the copy of the same list for some seconds. */
function copiesLists(): Alteration {
  const copies = new Map<string, { readonly response: ProxiedResponse; readonly sentMs: number }>();
  return {
    response: (response, { query }) => {
      if (response.status !== 200) return response;
      const sentMs = Date.parse(response.headers.date ?? '');
      const copy = copies.get(query);
      if (copy && sentMs - copy.sentMs < COPY_MAX_MS) return copy.response;
      copies.set(query, { response, sentMs });
      return response;
    },
  };
}

/** Changes the artifact in a response by its ID, in the details only. */
function changedDetails(
  response: ProxiedResponse,
  { operation, parameters }: ProxiedRequest,
  change: (artifact: unknown, id: string) => unknown,
): ProxiedResponse {
  if (operation !== 'get-artifact' || !isSuccess(response)) return response;
  return withJson(response, change(jsonOf(response), parameters.id ?? ''));
}

/** Shows the description before an empty one. */
function keepsDescriptions(): Alteration {
  const lastDescriptions = new Map<string, unknown>();
  return {
    response: (response, request) =>
      changedDetails(response, request, (artifact, id) => {
        const { description } = membersOf(artifact);
        if (description !== '') lastDescriptions.set(id, description);
        return changedAt(artifact, 'description', (text) =>
          text === '' ? lastDescriptions.get(id) : text,
        );
      }),
  };
}

/** Shows the time of the first edit for ever. */
function keepsModified(): Alteration {
  const edits = new Map<string, number>();
  const firstEditTimes = new Map<string, unknown>();
  return {
    response: (response, request) => {
      const { id = '' } = request.parameters;
      if (request.operation === 'update-artifact') edits.set(id, (edits.get(id) ?? 0) + 1);
      return changedDetails(response, request, (artifact) => {
        const { modified } = membersOf(artifact);
        if (edits.get(id) === 1) firstEditTimes.set(id, modified);
        return changedAt(artifact, 'modified', () => firstEditTimes.get(id) ?? modified);
      });
    },
  };
}

/** Spec: Device deployments v1 */
export const artifactLifeDefects: readonly Defect[] = [
  {
    id: 'deleted-artifact-is-still-shown',
    title: 'A deleted artifact is shown by its ID to devices that have seen it.',
    violates: ['artifacts.unknown-is-404'],
    operations: ['get-artifact'],
    alter: stillThere,
  },
  {
    id: 'deleted-artifact-is-still-linked',
    title: 'A deleted artifact is linked for devices that have got a link to it.',
    violates: ['link.unknown-artifact-is-404'],
    operations: ['get-artifact-link'],
    alter: stillThere,
  },
  {
    id: 'deletion-hides-the-release',
    title: 'Once one artifact of a release is deleted, none of the release is listed.',
    violates: ['artifacts.deleted-is-not-listed'],
    operations: ['list-artifacts', 'delete-artifact'],
    alter: hidesReleases,
  },
  {
    id: 'artifact-list-is-an-old-copy',
    title: 'A list of artifacts is the one that was answered within the last seconds.',
    violates: ['artifacts.list-is-complete', 'artifacts.deleted-is-not-listed'],
    operations: ['list-artifacts'],
    alter: copiesLists,
  },
  {
    id: 'emptied-description-is-not-shown',
    title: 'After a user empties the description of an artifact, devices see the former one.',
    violates: ['artifacts.edit-is-shown'],
    operations: ['get-artifact'],
    alter: keepsDescriptions,
  },
  {
    id: 'second-edit-does-not-move-modified',
    title: 'Only the first edit of an artifact moves `modified`.',
    violates: ['artifacts.modified'],
    operations: ['get-artifact', 'update-artifact'],
    alter: keepsModified,
  },
  {
    id: 'edit-makes-an-artifact-unsigned',
    title: 'Once a user has edited a signed artifact, it is shown as unsigned.',
    violates: ['artifacts.signed'],
    operations: ['get-artifact', 'update-artifact'],
    alter: () => {
      const edited = new Set<string | undefined>();
      return {
        response: (response, request) => {
          if (request.operation === 'update-artifact') edited.add(request.parameters.id);
          return changedDetails(response, request, (artifact, id) =>
            edited.has(id) ? changedAt(artifact, 'signed', () => false) : artifact,
          );
        },
      };
    },
  },
];
