/** Cases: the map that pauses a device in chosen states. Spec: UpdateControlMap */
import { arrangeAbort, arrangeReports } from '../../context/deployment-life.ts';
import { fieldIn, isObject, requireInstructions, textIn } from '../../context/instructions.ts';
import {
  acceptedDevice,
  activeDeployment,
  type DeviceInDeployment,
  deploymentOf,
  factoryProvides,
  type OfferedDeployment,
  requireOffer,
  requireResponse,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectJson,
  expectStatus,
  expectThat,
  NotObservable,
  observationOf,
  observedResponse,
  responseSummary,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';

/** Number of times that a map is read, to detect a server that sometimes returns a wrong map. */
const READINGS = 3;

const givenMap = {
  priority: 3,
  states: { ArtifactInstall_Enter: { action: 'pause' } },
} as const;

/** The request of a device that supports maps. */
const withMaps = { device_provides: factoryProvides, update_control_map: true };

/** A device in a deployment with a map, and the instructions that it received. */
interface DeviceWithMap extends OfferedDeployment {
  readonly instructions: Readonly<Record<string, unknown>>;
}

/** Polls for the pending deployment of the device, with support for maps, until it is offered. */
function pollForMap(
  context: TestContext,
  { device }: Pick<DeviceInDeployment, 'device'>,
): Promise<HttpResponse> {
  const operation = 'post-next-deployment-v2';
  return requireOffer(context, operation, () => device.call(operation, { body: withMaps }));
}

async function mappedDeployment(context: TestContext): Promise<DeviceWithMap> {
  const arranged = await deploymentOf(context, 'plain', givenMap);
  const response = await pollForMap(context, arranged);
  const instructions = requireInstructions(response);
  return { ...arranged, instructions, id: textIn(instructions, 'id') };
}

function fetchMap({ device, id }: Pick<OfferedDeployment, 'device' | 'id'>): Promise<HttpResponse> {
  return device.call('get-update-control-map', { path: { id } });
}

/** Returns the map that the device fetches. Throws NotObservable if the response wraps none. */
async function fetchedMap(arranged: DeviceWithMap): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetchMap(arranged);
  requireResponse('get-update-control-map', response, 200);
  const map = fieldIn(requireInstructions(response), 'update_control_map');
  if (!isObject(map)) throw new NotObservable('the response wraps no map');
  return map;
}

/** Asserts that the map has the deployment's ID, or the ID that version 2 gives the device. */
function expectIdOf({ id, deploymentId }: DeviceWithMap, mapId: unknown): void {
  const namesDeployment = mapId === deploymentId || mapId === id;
  expectThat(namesDeployment, `the ID ${deploymentId} in the map`, describeValue(mapId ?? 'none'));
}

const inInstructions = defineScenario({
  area: 'update-control-map',
  name: 'A map in instructions',
  start: 'a device that has been offered a deployment with an update control map',
  effect: 'write',
  needs: ['user', 'deployments-v2', 'update-control-map'],
  arrange: mappedDeployment,
  cases: [
    {
      id: 'stands-in-the-artifact',
      title: 'A device that supports maps gets the map of its deployment in `artifact`.',
      requirements: ['next.control-map'],
      run: async ({ instructions }) => {
        const map = fieldIn(instructions, 'artifact.update_control_map');
        expectThat(isObject(map), 'an update control map', describeValue(map ?? 'none'));
      },
    },
    {
      id: 'in-instructions-has-the-id',
      title: 'The map in the instructions has the ID of the deployment.',
      requirements: ['next.control-map-id'],
      run: async (arranged) => {
        expectIdOf(arranged, fieldIn(arranged.instructions, 'artifact.update_control_map.id'));
      },
    },
    {
      id: 'in-instructions-is-as-given',
      title: 'The map in the instructions has the priority and the actions that the user set.',
      requirements: ['next.control-map-as-given'],
      run: async ({ instructions }) => {
        const map = fieldIn(instructions, 'artifact.update_control_map');
        if (!isObject(map)) throw new NotObservable('there is no map in the instructions');
        expectGiven(map);
      },
    },
    {
      id: 'map-in-a-second-place',
      title: 'Whether the instructions have the map in a second place too.',
      requirements: ['next.control-map-second-place'],
      observe: async ({ instructions }) => {
        const isOnTop = fieldIn(instructions, 'update_control_map') !== undefined;
        return observationOf(isOnTop ? 'beside id too' : 'in no other place');
      },
    },
    {
      id: 'map-for-a-device-without-support',
      title: 'A device that supports no maps, or does not say so, may get one or none.',
      requirements: ['next.control-map-unrequested'],
      observe: async (_, context) => {
        const silent = await mapFor(context, { device_provides: factoryProvides });
        const refusing = await mapFor(context, { ...withMaps, update_control_map: false });
        return observationOf(`without the field ${silent}, with false ${refusing}`);
      },
    },
  ],
});

/** Asserts that the map contains what the user gave; it may contain more. */
function expectGiven(map: Readonly<Record<string, unknown>>): void {
  const { priority, states } = map;
  const state = isObject(states) ? states.ArtifactInstall_Enter : undefined;
  const action = isObject(state) ? state.action : undefined;
  expectEqual('map', { priority, action }, { priority: 3, action: 'pause' });
}

/** Returns a phrase that says whether a request with this body gets the map of its deployment. */
async function mapFor(context: TestContext, body: unknown): Promise<string> {
  const { device } = await deploymentOf(context, 'plain', givenMap);
  const response = await device.call('post-next-deployment-v2', { body });
  requireResponse('post-next-deployment-v2', response, 200);
  const map = fieldIn(requireInstructions(response), 'artifact.update_control_map');
  return map === undefined ? 'no map is sent' : 'the map is sent';
}

function fieldCase(
  requirement: 'map.id' | 'map.priority' | 'map.fields' | 'map.action',
  [what, title]: readonly [string, string],
  isExpected: (map: Readonly<Record<string, unknown>>) => boolean,
): JudgingCase<DeviceWithMap> {
  return {
    id: `${what}-of-the-map`,
    title,
    requirements: [requirement],
    run: async (arranged) => {
      const map = await fetchedMap(arranged);
      expectThat(isExpected(map), `a map with that ${what}`, describeValue(map));
    },
  };
}

const mapped = defineScenario({
  area: 'update-control-map',
  name: 'A deployment with a map',
  start: 'a device that has been offered a deployment with an update control map',
  effect: 'write',
  needs: ['user', 'deployments-v2', 'update-control-map'],
  arrange: mappedDeployment,
  cases: [
    {
      id: 'active-deployment-is-200',
      title: 'A request for the map of an active deployment is answered with 200.',
      requirements: ['map.of-active-deployment'],
      covers: ['get-update-control-map 200'],
      run: async (arranged) => expectStatus(await fetchMap(arranged), 200),
    },
    {
      id: 'is-available-during-the-update',
      title:
        'The map is available in every state of the update, so that a paused device can fetch it.',
      requirements: ['map.of-active-deployment'],
      run: async (arranged) => {
        for (const status of ['downloading', 'pause_before_installing', 'installing']) {
          await arrangeReports(arranged, status);
          expectStatus(await fetchMap(arranged), 200);
        }
      },
    },
    {
      id: 'is-wrapped',
      title: 'The response is an object whose update_control_map is an object.',
      requirements: ['map.is-wrapped'],
      run: async (arranged) => {
        for (let reading = 1; reading <= READINGS; reading += 1) {
          const response = await fetchMap(arranged);
          requireResponse('get-update-control-map', response, 200);
          const body = expectJson(response);
          const isWrapped = isObject(body) && isObject(body.update_control_map);
          expectThat(isWrapped, 'a map in update_control_map', responseSummary(response));
        }
      },
    },
    {
      id: 'has-the-id-of-the-deployment',
      title: 'The ID of the map is the ID of the deployment.',
      requirements: ['map.id-is-the-deployment'],
      run: async (arranged) => {
        for (let reading = 1; reading <= READINGS; reading += 1) {
          const { id } = await fetchedMap(arranged);
          if (typeof id !== 'string') throw new NotObservable('the map has no text as its ID');
          expectIdOf(arranged, id);
        }
      },
    },
    {
      id: 'is-the-assigned-one',
      title: 'The priority and the action of each state are those that the user set.',
      requirements: ['map.is-the-assigned-one'],
      run: async (arranged) => {
        for (let reading = 1; reading <= READINGS; reading += 1) {
          expectGiven(await fetchedMap(arranged));
        }
      },
    },
    fieldCase('map.id', ['id', 'The ID of a map is a string.'], ({ id }) => typeof id === 'string'),
    fieldCase(
      'map.priority',
      ['priority', 'The priority of a map, if present, is an integer.'],
      ({ priority }) => priority === undefined || Number.isInteger(priority),
    ),
    fieldCase(
      'map.fields',
      ['states', 'The states of a map, if present, are an object of objects.'],
      ({ states }) =>
        states === undefined || (isObject(states) && Object.values(states).every(isObject)),
    ),
    fieldCase(
      'map.action',
      ['action', 'The action of a state, if present, is a string.'],
      ({ states }) =>
        Object.values(isObject(states) ? states : {}).every(
          (state) => !isObject(state) || ['string', 'undefined'].includes(typeof state.action),
        ),
    ),
    {
      id: 'another-device-is-404',
      title: "A request for the map of another device's deployment is answered with 404.",
      requirements: ['map.foreign-is-404'],
      run: async ({ id }, context) => {
        const device = await acceptedDevice(context);
        expectStatus(await fetchMap({ device, id }), 404);
      },
    },
    {
      id: 'after-an-abort-is-404',
      title:
        'After a user has aborted a deployment whose map was fetched, its map is answered with 404.',
      requirements: ['map.finished-is-404'],
      run: async (arranged, context) => {
        await fetchedMap(arranged);
        await arrangeAbort(context, arranged);
        expectStatus(await fetchMap(arranged), 404);
      },
    },
    finishedCase('success'),
    finishedCase('failure'),
    {
      id: 'change-by-a-user-is-shown',
      title:
        'After a user has changed the map, a device that has fetched it fetches the new one, and is offered it.',
      requirements: ['map.is-the-assigned-one', 'next.control-map-as-given'],
      run: async (arranged, context) => {
        const { deploymentId } = arranged;
        for (const priority of [7, -2]) {
          await fetchedMap(arranged);
          const states = { ArtifactReboot_Enter: { action: 'pause' } } as const;
          await context.admin.changeControlMap(deploymentId, { priority, states });
          const isNew = (map: Readonly<Record<string, unknown>>): boolean =>
            map.priority === priority &&
            isObject(map.states) &&
            !('ArtifactInstall_Enter' in map.states);
          const newMap = await context.eventually(() => fetchedMap(arranged), isNew);
          expectThat(isNew(newMap), `the map with priority ${priority}`, describeValue(newMap));
          const offer = requireInstructions(await pollForMap(context, arranged));
          const offeredUserMap = fieldIn(offer, 'artifact.update_control_map');
          if (!isObject(offeredUserMap) || isNew(offeredUserMap)) continue;
          const violated = ['next.control-map-as-given'] as const;
          const expected = `the instructions with priority ${priority}`;
          throw new ExpectationFailure(expected, describeValue(offeredUserMap), violated);
        }
      },
    },
    {
      id: 'ends-for-each-device-of-its-own',
      title:
        'A device that has finished is answered with 404, and one that has not is answered with 200.',
      requirements: ['map.finished-is-404', 'map.of-active-deployment'],
      run: async (_, context) => {
        const { one, other } = await mappedForTwo(context);
        await arrangeReports(one, 'success');
        expectStatus(await fetchMap(one), 404);
        expectStatus(await fetchMap(other), 200);
      },
    },
  ],
});

/** Arranges two devices that have been offered the same deployment, which has a map. */
async function mappedForTwo(context: TestContext) {
  const [firstDevice, secondDevice] = [
    await acceptedDevice(context),
    await acceptedDevice(context),
  ];
  const { name: artifact_name } = await context.artifact('plain');
  const devices = [firstDevice.id, secondDevice.id];
  await context.deploy({ artifact_name, devices, update_control_map: givenMap });
  const offerTo = async (device: SuiteDevice) => {
    const response = await pollForMap(context, { device });
    return { device, id: textIn(requireInstructions(response), 'id') };
  };
  return { one: await offerTo(firstDevice), other: await offerTo(secondDevice) };
}

function finishedCase(status: 'success' | 'failure'): JudgingCase<DeviceWithMap> {
  return {
    id: `after-${status}-is-404`,
    title: `After the device has fetched the map and reported ${status}, the map is answered with 404.`,
    requirements: ['map.finished-is-404'],
    covers: ['get-update-control-map 404'],
    run: async (arranged) => {
      await fetchedMap(arranged);
      await arrangeReports(arranged, status);
      expectStatus(await fetchMap(arranged), 404);
    },
  };
}

const plain = defineScenario({
  area: 'update-control-map',
  name: 'No map',
  start: 'a device that has been offered a deployment without a map',
  effect: 'write',
  needs: ['user', 'update-control-map'],
  arrange: activeDeployment,
  cases: [
    {
      id: 'deployment-without-map',
      title: 'How a request for the map of an active deployment without one is answered.',
      requirements: ['map.deployment-without-one'],
      observe: async (arranged) => observedResponse(await fetchMap(arranged)),
    },
    {
      id: 'instructions-without-a-map',
      title: 'The instructions of a deployment without a map have none.',
      requirements: ['next.control-map-only-if-given'],
      run: async (_, context) => {
        const response = await pollForMap(context, await deploymentOf(context, 'plain'));
        const map = fieldIn(requireInstructions(response), 'artifact.update_control_map');
        expectThat(map === undefined || map === null, 'no update control map', describeValue(map));
      },
    },
    {
      id: 'unknown-deployment-is-404',
      title: 'A request for the map of a deployment that does not exist is answered with 404.',
      requirements: ['map.unknown-is-404'],
      run: async ({ device }, context) =>
        expectStatus(await fetchMap({ device, id: context.random.uuid() }), 404),
    },
    {
      id: 'malformed-id-is-refused',
      title: 'A request for the map of a malformed deployment ID is answered with 400 or 404.',
      requirements: ['map.malformed-id'],
      covers: ['get-update-control-map 400'],
      run: async ({ device }) =>
        expectStatus(await fetchMap({ device, id: 'no-such-form' }), 400, 404),
    },
  ],
});

export const updateControlMapCases = [...inInstructions, ...mapped, ...plain];
