/** Defects in the contents of control maps of several deployments, and during a pause. */
import {
  changedAt,
  changedJson,
  isSuccess,
  objectOf,
  ownResponse,
  tokenOf,
  withJson,
} from '../alter.ts';
import { fieldBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedResponse } from '../defect.ts';
import { bodyMemberAt, isObject } from '../sent.ts';

const fetches = ['get-update-control-map'] as const;
const polls = ['post-next-deployment-v2'] as const;
const assignedMap = ['map.is-the-assigned-one'] as const;
const ofAnotherId = ['next.control-map-id', 'map.id-is-the-deployment'] as const;
const instructedMap = ['next.control-map-as-given'] as const;

function firstOf(states: unknown): unknown {
  return isObject(states) ? Object.fromEntries(Object.entries(states).slice(0, 1)) : states;
}

/** Answers every request for a map with the contents of the first map that `keyOf` knows. */
function cached(keyOf: (token: string) => string): () => Alteration {
  return () => {
    const mapsById = new Map<string, unknown>();
    return {
      response: (response, request) => {
        const { update_control_map: map } = objectOf(response);
        if (!isSuccess(response) || !isObject(map)) return response;
        const key = keyOf(tokenOf(request));
        const firstMap = mapsById.get(key) ?? map;
        mapsById.set(key, firstMap);
        return withJson(response, {
          update_control_map: isObject(firstMap) ? { ...firstMap, id: map.id } : map,
        });
      },
    };
  };
}

/** Keeps the ID of a map that a user gave it, in place of the ID of its deployment. */
function keepsTheGivenId(): Alteration {
  const assignedIds = new Map<unknown, unknown>();
  return {
    response: (response, request) => {
      if (request.operation === 'create-deployment') {
        const { update_control_map: map } = objectOf(request);
        const id = response.headers.location?.split('/').at(-1);
        if (isSuccess(response) && isObject(map) && map.id !== undefined)
          assignedIds.set(id, map.id);
        return response;
      }
      return changedJson(response, (body) =>
        ['update_control_map.id', 'artifact.update_control_map.id'].reduce(
          (changedMap, path) => changedAt(changedMap, path, (id) => assignedIds.get(id) ?? id),
          body,
        ),
      );
    },
  };
}

/** Changes responses to a device whose last report was one of the pauses after the installation. */
function whilePaused(change: (response: ProxiedResponse) => ProxiedResponse): () => Alteration {
  return () => {
    const paused = new Map<string, boolean>();
    return {
      response: (response, request) => {
        const token = tokenOf(request);
        if (request.operation === 'put-deployment-status') {
          const status = String(bodyMemberAt(request, 'status'));
          paused.set(token, /^pause_before_(rebooting|committing)$/.test(status));
          return response;
        }
        return isSuccess(response) && paused.get(token) ? change(response) : response;
      },
    };
  };
}

export const updateControlMapContentDefects: readonly Defect[] = [
  {
    id: 'map-keeps-the-id-that-a-user-gave',
    title: 'A map that a user gave an ID has that ID instead of the one of its deployment.',
    violates: ofAnotherId,
    operations: ['create-deployment', ...polls, ...fetches],
    alter: keepsTheGivenId,
  },
  {
    id: 'map-is-that-of-the-first-deployment',
    title: 'A device gets the map of its first deployment for later ones too.',
    violates: assignedMap,
    operations: fetches,
    alter: cached((token) => token),
  },
  {
    id: 'map-is-that-of-another-device',
    title: 'Every device gets the contents of the map that was fetched first.',
    violates: assignedMap,
    operations: fetches,
    alter: cached(() => ''),
  },
  {
    id: 'map-has-one-state-only',
    title: 'The map has only the first of its states.',
    violates: assignedMap,
    operations: fetches,
    alter: fieldBecomes('update_control_map.states', firstOf),
  },
  {
    id: 'instructed-map-has-one-state-only',
    title: 'The map in the instructions has only the first of its states.',
    violates: instructedMap,
    operations: polls,
    alter: fieldBecomes('artifact.update_control_map.states', firstOf),
  },
  {
    id: 'negative-priority-of-a-map-is-lost',
    title: 'A negative priority of a map is answered as 0.',
    violates: assignedMap,
    operations: fetches,
    alter: fieldBecomes('update_control_map.priority', (value) => Math.max(0, Number(value))),
  },
  {
    id: 'negative-priority-in-instructions-is-lost',
    title: 'A negative priority of a map is 0 in the instructions.',
    violates: instructedMap,
    operations: polls,
    alter: fieldBecomes('artifact.update_control_map.priority', (value) =>
      Math.max(0, Number(value)),
    ),
  },
  {
    id: 'every-action-of-a-map-is-pause',
    title: 'The action of each state of a map is pause, whichever was assigned.',
    violates: assignedMap,
    operations: fetches,
    alter: fieldBecomes('update_control_map.states', (states) =>
      isObject(states)
        ? Object.fromEntries(Object.keys(states).map((name) => [name, { action: 'pause' }]))
        : states,
    ),
  },
  {
    id: 'map-is-404-while-a-device-pauses',
    title: 'While a device pauses before rebooting or committing, its map is answered with 404.',
    violates: ['map.of-active-deployment'],
    operations: [...fetches, 'put-deployment-status'],
    alter: whilePaused(() => ownResponse(404, { error: 'no such map' })),
  },
  {
    id: 'no-map-is-offered-while-a-device-pauses',
    title: 'While a device pauses before rebooting or committing, its instructions have no map.',
    violates: [...instructedMap, 'next.control-map'],
    operations: [...polls, 'put-deployment-status'],
    alter: whilePaused((response) =>
      changedJson(response, (body) =>
        changedAt(body, 'artifact.update_control_map', () => undefined),
      ),
    ),
  },
];
