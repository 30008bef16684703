/**
 * Cases: the contents of update control maps of several deployments, and of a deployment that is
 * paused. Spec: UpdateControlMap; Device deployments v2
 */
import type { GivenControlMap } from '../../../fixtures/contract/resources.ts';
import { arrangeReports } from '../../context/deployment-life.ts';
import { abortableStates } from '../../context/device-statuses.ts';
import { fieldIn, isObject, requireInstructions, textIn } from '../../context/instructions.ts';
import { acceptedDevice, factoryProvides, requireResponse } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  describeValue,
  ExpectationFailure,
  expectStatus,
  NotObservable,
  responseSummary,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';

/** Maps that differ in priority, in their states and in the actions of these. */
const maps: readonly GivenControlMap[] = [
  { priority: 0, states: { ArtifactReboot_Enter: { action: 'pause' } } },
  {
    priority: 7,
    states: {
      ArtifactInstall_Enter: { action: 'fail' },
      ArtifactReboot_Enter: { action: 'force_continue' },
      ArtifactCommit_Enter: { action: 'pause' },
    },
  },
  { priority: 3, states: {} },
  { priority: -5, states: { ArtifactInstall_Enter: { action: 'pause' } } },
  {
    priority: 10,
    states: {
      ArtifactReboot_Enter: { action: 'force_continue' },
      ArtifactCommit_Enter: { action: 'fail' },
    },
  },
];

/** A deployment with a map that was offered to a device. */
interface OfferedMap {
  readonly device: SuiteDevice;
  readonly id: string;
  /** The ID by which users know the deployment. */
  readonly deploymentId: string;
  readonly userMap: GivenControlMap;
  /** The map in the instructions. */
  readonly instructed: unknown;
}

/** Deploys with a map to the device, and requests the deployment as a device with map support. */
async function offeredMap(
  context: TestContext,
  device: SuiteDevice,
  userMap: GivenControlMap,
): Promise<OfferedMap> {
  const { name } = await context.artifact('plain');
  const deployment = { artifact_name: name, devices: [device.id], update_control_map: userMap };
  const { id: deploymentId } = await context.deploy(deployment);
  const response = await poll(device);
  requireResponse('post-next-deployment-v2', response, 200);
  const instructions = requireInstructions(response);
  const instructed = fieldIn(instructions, 'artifact.update_control_map');
  return { device, id: textIn(instructions, 'id'), deploymentId, userMap, instructed };
}

function poll(device: SuiteDevice): Promise<HttpResponse> {
  const body = { device_provides: factoryProvides, update_control_map: true };
  return device.call('post-next-deployment-v2', { body });
}

function fetchMap({ device, id }: Pick<OfferedMap, 'device' | 'id'>): Promise<HttpResponse> {
  return device.call('get-update-control-map', { path: { id } });
}

/** Returns what the contract says of a map: its priority, and the action of each state. */
function priorityAndActions(map: unknown): unknown {
  if (!isObject(map)) return map;
  const { states = {} } = map;
  if (!isObject(states)) return map;
  const actions = Object.entries(states).map(([name, state]) => [
    name,
    isObject(state) ? state.action : state,
  ]);
  return { priority: map.priority, actions: Object.fromEntries(actions.sort()) };
}

/** Asserts that a map has the deployment's ID, and the priority, states and actions as given. */
function expectMap(
  where: 'in the instructions' | 'of the deployment',
  map: unknown,
  { userMap, id, deploymentId }: OfferedMap,
): void {
  // Other cases judge that there is a map, and where.
  if (map === undefined || map === null) throw new NotObservable(`there is no map ${where}`);
  const isInInstructions = where === 'in the instructions';
  const mapId = isObject(map) ? map.id : undefined;
  if (mapId !== id && mapId !== deploymentId) {
    const violated = isInInstructions ? 'next.control-map-id' : 'map.id-is-the-deployment';
    throw new ExpectationFailure(`the ID ${deploymentId} in the map`, describeValue(mapId), [
      violated,
    ]);
  }
  const [is, expectedMap] = [priorityAndActions(map), priorityAndActions(userMap)].map((each) =>
    JSON.stringify(each),
  );
  if (is === expectedMap) return;
  const violated = isInInstructions ? inInstructions : ofDeployment;
  throw new ExpectationFailure(`the map ${expectedMap} ${where}`, describeValue(map), [violated]);
}

const inInstructions = 'next.control-map-as-given';
const ofDeployment = 'map.is-the-assigned-one';
const ids = ['next.control-map-id', 'map.id-is-the-deployment'] as const;

/** Asserts that the device gets the map of its deployment, with the contents that were given. */
async function expectServed(mapOffer: OfferedMap): Promise<void> {
  const response = await fetchMap(mapOffer);
  if (response.status !== 200) {
    const actual = responseSummary(response);
    throw new ExpectationFailure('status 200', actual, ['map.of-active-deployment']);
  }
  expectMap('of the deployment', requireInstructions(response).update_control_map, mapOffer);
}

/** Spec: UpdateControlMap; Device deployments v2 */
export const updateControlMapContentCases = defineScenario<SuiteDevice>({
  area: 'update-control-map',
  name: 'Contents of assigned maps',
  start: 'an accepted device to which a user deploys with maps of different contents',
  effect: 'write',
  needs: ['user', 'deployments-v2', 'update-control-map'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'each-deployment-has-its-own-map',
      title: 'Of deployments that follow one another, each has the map that it was given.',
      requirements: [
        inInstructions,
        ofDeployment,
        ...ids,
        'map.of-active-deployment',
        'map.finished-is-404',
      ],
      run: async (device, context) => {
        const former: OfferedMap[] = [];
        for (const userMap of maps) {
          const mapOffer = await offeredMap(context, device, userMap);
          expectMap('in the instructions', mapOffer.instructed, mapOffer);
          await expectServed(mapOffer);
          for (const over of former.slice(-1)) {
            const response = await fetchMap(over);
            if (response.status === 404) continue;
            const actual = responseSummary(response);
            throw new ExpectationFailure('status 404 when over', actual, ['map.finished-is-404']);
          }
          await arrangeReports(mapOffer, 'installing', 'success');
          former.push(mapOffer);
        }
      },
    },
    {
      id: 'id-is-that-of-the-deployment',
      title: 'A map that a user gave an ID of its own has the ID of its deployment.',
      requirements: ids,
      run: async (device, context) => {
        const id = '5f1e7a3c-9b0d-4c2e-8a6f-3d4b5c6e7f80';
        const mapOffer = await offeredMap(context, device, { id, ...maps[1] });
        expectMap('in the instructions', mapOffer.instructed, mapOffer);
        await expectServed(mapOffer);
      },
    },
    {
      id: 'each-device-has-the-map-of-its-deployment',
      title: 'Of two devices in two deployments, each gets the map of its own, at the same time.',
      requirements: [inInstructions, ofDeployment, ...ids, 'map.of-active-deployment'],
      run: async (device, context) => {
        const [firstMap, secondMap] = maps;
        if (!firstMap || !secondMap) throw new NotObservable('there are no two maps');
        const one = await offeredMap(context, device, firstMap);
        const other = await offeredMap(context, await acceptedDevice(context), secondMap);
        for (const each of [one, other, one]) {
          expectMap('in the instructions', each.instructed, each);
          await expectServed(each);
        }
      },
    },
    {
      id: 'map-stays-while-a-device-pauses',
      title: 'In every state of an update the map is served, and offered again, as it was given.',
      requirements: [
        ...([inInstructions, ofDeployment, ...ids] as const),
        ...(['map.of-active-deployment', 'next.repeatable'] as const),
      ],
      run: async (device, context) => {
        const mapOffer = await offeredMap(context, device, maps[1] ?? {});
        expectMap('in the instructions', mapOffer.instructed, mapOffer);
        for (const status of abortableStates.slice(1)) {
          await arrangeReports(mapOffer, status);
          await expectServed(mapOffer);
          const secondOffer = await poll(device);
          expectStatus(secondOffer, 200);
          const map = fieldIn(requireInstructions(secondOffer), 'artifact.update_control_map');
          if (map === undefined) {
            const expectation = `the map in the instructions of a device that reported ${status}`;
            throw new ExpectationFailure(expectation, 'none', [inInstructions]);
          }
          expectMap('in the instructions', map, mapOffer);
        }
      },
    },
  ],
});
