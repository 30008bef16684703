/** Cases: how a device looks up artifacts. Spec: Device deployments v1, "GET /artifacts" */
import { largeRelease } from '../../context/large-release.ts';
import { malformedIds } from '../../context/malformed-ids.ts';
import { boardType, nearTypes } from '../../context/sample-artifacts.ts';
import { deviceAndArtifact, requireResponse } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  describeValue,
  expectEach,
  expectJson,
  expectStatus,
  expectThat,
  NotObservable,
  observationOf,
  observedResponse,
  responseSummary,
} from '../../target/expectations.ts';
import { isMap, type Members, membersOf } from '../../target/json-members.ts';
import type { HttpResponse } from '../../target/response.ts';

/** Number of times that a list is read, to detect a server that sometimes returns a wrong ID. */
const READINGS = 3;

const LISTED_MAX = 100;

/** Lists the artifacts of a release for a device type, as a device. */
function list(device: SuiteDevice, release: string, deviceType: string): Promise<HttpResponse> {
  const query = { release_name: release, device_type: deviceType };
  return device.call('list-artifacts', { query });
}

/** Returns the listed artifacts; the case of the list itself checks the response. */
function listedIn(response: HttpResponse): readonly Members[] {
  if (response.status === 404) return [];
  requireResponse('list-artifacts', response, 200);
  const entries = expectJson(response);
  if (!Array.isArray(entries)) throw new NotObservable('the response is not an array');
  return entries.map(membersOf);
}

/** Asserts that the artifact is not listed; an empty list may be answered with 404. */
function expectNotListed(response: HttpResponse, unwanted: string): void {
  const ids = listedIn(response).map(({ id }) => id);
  expectThat(!ids.includes(unwanted), `no artifact ${unwanted}`, describeValue(ids));
}

const listCases = defineScenario({
  area: 'artifacts',
  name: 'The list',
  start: 'an accepted device, and two uploaded artifacts of different releases',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => ({
    ...(await deviceAndArtifact(context, 'plain')),
    otherRelease: (await context.artifact('dependent')).name,
  }),
  cases: [
    {
      id: 'release-is-listed',
      title:
        'A list of the artifacts of a release for a device type is answered with 200 and an array.',
      requirements: ['artifacts.list'],
      covers: ['list-artifacts 200'],
      run: async ({ device, artifact }) => {
        const response = await list(device, artifact.name, boardType);
        expectStatus(response, 200);
        expectThat(Array.isArray(expectJson(response)), 'an array', responseSummary(response));
      },
    },
    {
      id: 'artifact-of-the-release-is-listed',
      title: 'An artifact of the release that is compatible with the device type is in the list.',
      requirements: ['artifacts.list-is-complete'],
      run: async ({ device, artifact }) => {
        const response = await list(device, artifact.name, boardType);
        const isListed = listedIn(response).some(
          ({ id, name }) => id === artifact.id || name === artifact.name,
        );
        expectThat(isListed, `the artifact ${artifact.id}`, responseSummary(response));
      },
    },
    {
      id: 'listed-for-each-of-its-types',
      title: 'An artifact of several device types is listed for each of them.',
      requirements: ['artifacts.list-is-complete'],
      run: async ({ device }, context) => {
        const { id, name, deviceTypes } = await context.artifact('signed');
        for (const type of deviceTypes) {
          const ids = listedIn(await list(device, name, type)).map((artifact) => artifact.id);
          expectThat(
            ids.includes(id),
            `the artifact ${id} for ${describeValue(type)}`,
            describeValue(ids),
          );
        }
      },
    },
    {
      id: 'listed-under-its-id',
      title: 'An artifact is listed under its ID, every time.',
      requirements: ['artifacts.id'],
      run: async ({ device, artifact }) => {
        for (let reading = 1; reading <= READINGS; reading += 1) {
          const ids = listedIn(await list(device, artifact.name, boardType)).map(({ id }) => id);
          if (ids.length === 0) throw new NotObservable('no artifact is listed');
          expectThat(ids.includes(artifact.id), `the artifact ${artifact.id}`, describeValue(ids));
        }
      },
    },
    {
      id: 'other-device-type-is-not-listed',
      title:
        'An artifact of the release that is not compatible with the device type is not listed.',
      requirements: ['artifacts.list-selects'],
      run: async ({ device, artifact }) => {
        for (const type of ['another-board', ...Object.values(nearTypes)]) {
          expectNotListed(await list(device, artifact.name, type), artifact.id);
        }
      },
    },
    {
      id: 'other-release-is-not-listed',
      title: 'A compatible artifact of another release is not listed.',
      requirements: ['artifacts.list-selects-release'],
      run: async ({ device, artifact, otherRelease }) => {
        const { name } = artifact;
        for (const requestedName of [
          otherRelease,
          name.slice(0, -1),
          `${name}0`,
          name.toUpperCase(),
        ]) {
          expectNotListed(await list(device, requestedName, boardType), artifact.id);
        }
      },
    },
    {
      id: 'list-without-parameters-is-400',
      title: 'A list request without any parameter is answered with 400.',
      requirements: ['artifacts.list-parameters'],
      covers: ['list-artifacts 400'],
      run: async ({ device }) => expectStatus(await device.call('list-artifacts'), 400),
    },
    {
      id: 'list-without-release-name-is-400',
      title: 'A list request without release_name is answered with 400.',
      requirements: ['artifacts.release-name-is-required'],
      run: async ({ device }) => {
        const query = { device_type: boardType };
        expectStatus(await device.call('list-artifacts', { query }), 400);
      },
    },
    {
      id: 'list-without-device-type-is-400',
      title: 'A list request without device_type is answered with 400.',
      requirements: ['artifacts.device-type-is-required'],
      run: async ({ device, artifact }) => {
        const query = { release_name: artifact.name };
        expectStatus(await device.call('list-artifacts', { query }), 400);
      },
    },
    {
      id: 'empty-parameters',
      title: 'An empty release name or device type may be refused, or match nothing.',
      requirements: ['artifacts.empty-parameter'],
      observe: async ({ device, artifact }) => {
        const release = await list(device, '', boardType);
        const deviceType = await list(device, artifact.name, '');
        return observationOf(
          `empty name ${release.status}, empty device type ${deviceType.status}`,
        );
      },
    },
    {
      id: 'unknown-release',
      title: 'An unknown release may be answered with an empty list or 404.',
      requirements: ['artifacts.nothing-found'],
      covers: ['list-artifacts 404'],
      observe: async ({ device }, context) =>
        observedResponse(await list(device, context.newName(), boardType)),
    },
    {
      id: 'unauthenticated-is-401',
      title:
        'The list and an artifact are answered with 401 without a token and with a malformed one.',
      requirements: ['artifacts.unauthenticated-is-401'],
      covers: ['list-artifacts 401', 'get-artifact 401'],
      run: async ({ artifact }, context) => {
        const query = { release_name: artifact.name, device_type: boardType };
        const callers = { 'no token': context.caller(), 'a word as token': context.caller('word') };
        await expectEach(401, callers, (caller) => caller.call('list-artifacts', { query }));
        const path = { id: artifact.id };
        await expectEach(401, callers, (caller) => caller.call('get-artifact', { path }));
      },
    },
  ],
});

const large = defineScenario({
  area: 'artifacts',
  name: 'A large release',
  start: 'an accepted device, and a release with more artifacts than a list may hold',
  // The list is not paged, so this takes a hundred uploads: too many to run by default.
  effect: 'disruptive',
  needs: ['user'],
  arrange: (context) => largeRelease(context, LISTED_MAX + 1),
  cases: [
    {
      id: 'list-is-bounded',
      title: 'The list of a release with 101 artifacts holds at most 100 of them.',
      requirements: ['artifacts.list-bound'],
      run: async ({ device, release }) => {
        const response = await list(device, release, boardType);
        const { length } = listedIn(response);
        expectThat(length <= LISTED_MAX, 'at most 100', `${length} artifacts`);
      },
    },
  ],
});

const one = defineScenario({
  area: 'artifacts',
  name: 'One artifact',
  start: 'an accepted device, and an uploaded artifact',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => deviceAndArtifact(context, 'plain'),
  cases: [
    {
      id: 'artifact-is-200',
      title: 'A request for an artifact by its ID is answered with 200 and a JSON object.',
      requirements: ['artifacts.fields'],
      covers: ['get-artifact 200'],
      run: async ({ device, artifact }) => {
        const response = await device.call('get-artifact', { path: { id: artifact.id } });
        expectStatus(response, 200);
        expectThat(isMap(expectJson(response)), 'an object', responseSummary(response));
      },
    },
    {
      id: 'unknown-artifact-is-404',
      title: 'A request for an artifact that does not exist is answered with 404.',
      requirements: ['artifacts.unknown-is-404'],
      covers: ['get-artifact 404'],
      run: async ({ device }, context) => {
        const path = { id: context.random.uuid() };
        expectStatus(await device.call('get-artifact', { path }), 404);
      },
    },
    {
      id: 'malformed-id-is-refused',
      title: 'A request for an artifact ID that is not a UUID is answered with 400 or 404.',
      requirements: ['artifacts.malformed-id'],
      covers: ['get-artifact 400'],
      run: async ({ device }) => {
        for (const id of Object.values(malformedIds)) {
          expectStatus(await device.call('get-artifact', { path: { id } }), 400, 404);
        }
      },
    },
  ],
});

/** Spec: Device deployments v1, "GET /artifacts" */
export const artifactCases = [...listCases, ...large, ...one];
