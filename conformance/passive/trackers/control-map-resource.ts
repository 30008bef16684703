/** The update control map that a user has assigned to a deployment. Spec: UpdateControlMap */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { describeValue } from '../../target/expectations.ts';
import { isMap, membersOf } from '../../target/json-members.ts';
import { memberAt } from '../response-parts.ts';
import type { Allows } from './allowances.ts';
import { locationOf } from './known-devices.ts';
import { EFFECT_DELAY_MAX_MS, type Effect, type Reading, type Resource } from './resource.ts';
import type { TrackedViolation } from './tracker.ts';

/** A map belongs to a deployment, and not to one of its devices. */
const noDevice = '';

/** The map's priority, and the action of each state that does not simply continue. */
interface ControlMap {
  readonly priority: unknown;
  readonly actions: Readonly<Record<string, unknown>>;
}

export const controlMapResource: Resource<ControlMap> = {
  name: 'update control map',
  initial: () => [undefined],
  writes: {
    'create-deployment': (exchange, { allows }) =>
      assignmentEffects(exchange.requestJson, {
        id: locationOf(exchange),
        effectDelayMaxMs: 0,
        allows,
      }),
    'update-deployment': (exchange, { allows }) =>
      assignmentEffects(exchange.requestJson, {
        id: exchange.segment(),
        effectDelayMaxMs: EFFECT_DELAY_MAX_MS,
        allows,
      }),
  },
  reads: {
    'get-update-control-map': ({ responseJson, deploymentId }, { allows }) =>
      readingOf(memberAt(responseJson, ['update_control_map']), deploymentId, {
        allows,
        at: '/update_control_map',
        requirement: 'map.is-the-assigned-one',
      }),
    'post-next-deployment-v2': ({ responseJson }, { allows }) =>
      readingOf(
        memberAt(responseJson, ['artifact', 'update_control_map']),
        memberAt(responseJson, ['id']),
        {
          allows,
          at: '/artifact/update_control_map',
          requirement: 'next.control-map-as-given',
        },
      ),
  },
};

function assignmentEffects(
  body: unknown,
  {
    id,
    effectDelayMaxMs,
    allows,
  }: {
    readonly id: string | undefined;
    readonly effectDelayMaxMs: number;
    readonly allows: Allows;
  },
): readonly Effect<ControlMap>[] {
  const map = membersOf(body).update_control_map;
  if (!isMap(map) || id === undefined) return [];
  return [
    {
      device: noDevice,
      instance: id,
      effectDelayMaxMs,
      nextStates: () => [meaningOf(map, allows)],
    },
  ];
}

/** Returns the part of a map that every server keeps: `continue` is the default of an action. */
function meaningOf(map: unknown, allows: Allows): ControlMap {
  const { priority, states } = membersOf(map);
  const actions = Object.entries(membersOf(states)).map(([name, state]) => [
    name,
    membersOf(state).action,
  ]);
  const defaults = allows('map.default-is-left-out') ? [undefined, '', 'continue'] : [];
  const otherActions = actions.filter(([, action]) => !defaults.includes(action as string));
  return { priority, actions: Object.fromEntries(otherActions) };
}

function readingOf(
  map: unknown,
  id: unknown,
  {
    at,
    requirement,
    allows,
  }: { readonly at: string; readonly requirement: RequirementId; readonly allows: Allows },
): readonly Reading<ControlMap>[] {
  if (!isMap(map) || typeof id !== 'string') return [];
  const actualMap = meaningOf(map, allows);
  const differenceFrom = ({ priority, actions }: ControlMap): TrackedViolation | undefined => {
    if (priority !== undefined && priority !== actualMap.priority) {
      const expected = `be ${describeValue(priority)}, as assigned`;
      return {
        part: `200 body: ${at}/priority`,
        expected,
        actual: describeValue(actualMap.priority),
        requirement,
      };
    }
    const names = [...Object.keys(actions), ...Object.keys(actualMap.actions)];
    const differingState = names.find((name) => actions[name] !== actualMap.actions[name]);
    if (differingState === undefined) return undefined;
    const expected = `have the action ${describeValue(actions[differingState] ?? 'continue')}, as assigned`;
    const part = `200 body: ${at}/states/${differingState}`;
    return {
      part,
      expected,
      actual: describeValue(actualMap.actions[differingState] ?? 'continue'),
      requirement,
    };
  };
  return [{ device: noDevice, instance: id, differenceFrom }];
}
