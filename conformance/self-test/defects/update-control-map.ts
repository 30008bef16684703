/** Defects in the control map that a device fetches. */
import { objectOf, ownResponse, tokenOf } from '../alter.ts';
import { bodyBecomes, fieldBecomes, responseBecomes, statusBecomes } from '../alterations.ts';
import type { Defect, ProxiedResponse } from '../defect.ts';
import { type DeploymentRelation, relationOf } from '../own-deployment.ts';
import { requestFor } from '../requests.ts';
import { isObject } from '../sent.ts';

const fetches = ['get-update-control-map'] as const;

/** A defect: the map of a deployment with this relation to the device is returned. */
function givenOn(relation: DeploymentRelation, ...violates: Defect['violates']): Defect {
  return {
    id: `map-of-${relation}-deployment-is-given`,
    title: `The map of a deployment that is ${relation} to the device is answered with 200.`,
    violates,
    operations: fetches,
    alter: responseBecomes(async (response, request, send) => {
      const isRefused = response.status === 404 || response.status === 400;
      const isInRelation = isRefused && (await relationOf(request, send)) === relation;
      return isInRelation
        ? ownResponse(200, { update_control_map: { id: request.parameters.id } })
        : response;
    }),
  };
}

/** A defect: a member of the map has another value. */
function fieldIs(
  [name, violates]: readonly [string, Defect['violates']],
  path: string,
  value: unknown,
): Defect {
  return {
    id: `map-has-another-${name.replaceAll(' ', '-')}`,
    title: `The ${name} of the map is wrong.`,
    violates,
    operations: fetches,
    alter: fieldBecomes(`update_control_map.${path}`, () => value),
  };
}

const assignedMap = 'map.is-the-assigned-one';

export const updateControlMapDefects: readonly Defect[] = [
  {
    id: 'map-of-active-deployment-is-404',
    title: 'The map of an active deployment is answered with 404.',
    violates: ['map.of-active-deployment'],
    operations: fetches,
    alter: statusBecomes(200, 404),
  },
  {
    id: 'map-is-not-wrapped',
    title: 'The map is not wrapped in an object.',
    violates: ['map.is-wrapped'],
    operations: fetches,
    alter: bodyBecomes((value) => (isObject(value) ? (value.update_control_map ?? {}) : value)),
  },
  fieldIs(['id', ['map.id-is-the-deployment']], 'id', 'another-map'),
  fieldIs(['type of id', ['map.id']], 'id', 7),
  fieldIs(['priority', [assignedMap]], 'priority', 9),
  fieldIs(['type of priority', ['map.priority', assignedMap]], 'priority', 'high'),
  fieldIs(['form of states', ['map.fields', assignedMap]], 'states', ['ArtifactInstall_Enter']),
  fieldIs(['action', [assignedMap]], 'states.ArtifactInstall_Enter.action', 'fail'),
  fieldIs(
    ['type of action', ['map.action', assignedMap]],
    'states.ArtifactInstall_Enter.action',
    7,
  ),
  givenOn('malformed', 'map.malformed-id'),
  givenOn('unknown', 'map.unknown-is-404', 'tenants.are-apart'),
  givenOn('foreign', 'map.foreign-is-404'),
  givenOn('own', 'map.finished-is-404'),
  {
    id: 'map-lasts-as-long-as-the-last-device',
    title: 'A device that has finished gets the map while another has not finished.',
    violates: ['map.finished-is-404'],
    operations: fetches,
    alter: responseBecomes(async (response, request, send) => {
      const { id = '' } = request.parameters;
      if (response.status !== 404 || (await relationOf(request, send)) !== 'own') return response;
      const call = { parameters: { id }, token: send.userToken };
      const { status } = objectOf(await send(requestFor('get-deployment', call)));
      return status === 'finished' ? response : ownResponse(200, { update_control_map: { id } });
    }),
  },
  {
    id: 'map-of-a-failed-deployment-is-given',
    title: 'A device that has reported failure gets the map.',
    violates: ['map.finished-is-404'],
    operations: ['get-update-control-map', 'put-deployment-status'],
    alter: () => {
      const failedIds = new Set<string>();
      return {
        response: (response, request) => {
          const { id = '' } = request.parameters;
          const isReport = request.operation === 'put-deployment-status';
          if (isReport && objectOf(request).status === 'failure') failedIds.add(id);
          const isGiven = !isReport && response.status === 404 && failedIds.has(id);
          return isGiven ? ownResponse(200, { update_control_map: { id } }) : response;
        },
      };
    },
  },
  {
    id: 'map-is-the-one-fetched-first',
    title: 'After a user has changed a map, devices fetch the former one.',
    violates: [assignedMap],
    operations: fetches,
    alter: () => {
      const firstResponses = new Map<string | undefined, ProxiedResponse>();
      return {
        response: (response, { parameters: { id } }) => {
          if (response.status !== 200) return response;
          const earlierResponse = firstResponses.get(id) ?? response;
          firstResponses.set(id, earlierResponse);
          return earlierResponse;
        },
      };
    },
  },
  {
    id: 'fetched-map-outlives-its-deployment',
    title: 'A device that has fetched a map gets it after the end of its deployment, too.',
    violates: ['map.finished-is-404'],
    operations: fetches,
    alter: () => {
      const fetchedMaps = new Map<string, ProxiedResponse>();
      return {
        response: (response, request) => {
          const key = `${request.parameters.id} ${tokenOf(request)}`;
          if (response.status === 200) fetchedMaps.set(key, response);
          return response.status === 404 ? (fetchedMaps.get(key) ?? response) : response;
        },
      };
    },
  },
];
