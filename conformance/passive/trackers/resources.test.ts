import { describe, expect, it } from 'vitest';
import {
  deployment,
  device,
  preauthorization,
  type Step,
  violatedBy,
} from '../../testing/invented-cases.ts';
import { type AllowanceId, allowances } from './allowances.ts';
import { type StateWrite, TrackedState } from './tracked-state.ts';

/** Long after each effect has settled. */
const settledTimes = { from: 60_000, to: 60_005 };

const write =
  (id: Step['id'], success: number) =>
  (sent: unknown, times: Partial<Step> = {}): Step => ({ id, sent, status: success, ...times });
const put = write('put-attributes', 200);
const patch = write('patch-attributes', 200);
const named = (name: string, value: unknown, more: object = {}) => ({ name, value, ...more });
const inventory = (attributes: readonly object[], times: Partial<Step> = settledTimes): Step => ({
  id: 'get-inventory',
  path: { id: device },
  status: 200,
  body: {
    id: device,
    updated_ts: '2026-01-31T12:00:00Z',
    attributes: attributes.map((each) => ({ scope: 'inventory', ...each })),
  },
  ...times,
});
const search = (attributes: readonly object[]): Step => ({
  ...inventory(attributes),
  id: 'search-inventory',
  sent: { attributes: [{ scope: 'inventory', attribute: 'b' }] },
  body: [inventory(attributes).body],
});
const [a1, a2, b1] = [named('a', 1), named('a', 2), named('b', 'one')];

const configure = write('put-configuration', 204);
const read = (body: object, times: Partial<Step> = settledTimes): Step => ({
  id: 'get-configuration',
  status: 200,
  body,
  ...times,
});
const setByUser = (sent: object): Step => ({
  id: 'set-configuration',
  path: { id: device },
  sent,
  status: 204,
});

const monitor = write('post-monitor-configuration', 204);
const entry = { name: 'disk', status: 'on', type: 'df' };
const monitored = (body: readonly object[], times: Partial<Step> = settledTimes): Step => ({
  id: 'show-monitor-configuration',
  path: { id: device },
  status: 200,
  body,
  ...times,
});

const alert = {
  name: 'disk',
  level: 'OK',
  timestamp: '2026-01-31T12:00:00Z',
  subject: { name: 'disk', type: 'df', status: 'full' },
};
const alerts = write('post-alerts', 204);
const listed = (body: readonly object[]): Step => ({
  id: 'list-alerts',
  path: { id: device },
  status: 200,
  body,
  ...settledTimes,
});

const upload = (message: string, id = deployment): Step => ({
  id: 'put-deployment-log',
  path: { id },
  sent: { messages: [{ timestamp: '2026-01-31T12:00:00Z', level: 'info', message }] },
  status: 204,
});
const log = (body: string): Step => ({
  id: 'get-deployment-log',
  path: { id: deployment, device_id: device },
  status: 200,
  body,
  headers: { 'content-type': 'text/plain' },
  ...settledTimes,
});

const map = { priority: 1, states: { ArtifactInstall_Enter: { action: 'pause' } } };
const mapped: Step = {
  id: 'create-deployment',
  sent: { name: 'two', artifact_name: 'r', devices: [device], update_control_map: map },
  status: 201,
  headers: { location: '/api/management/v1/deployments/deployments/another' },
};
const mappedBy = (states: object): Step => ({
  ...mapped,
  sent: { ...(mapped.sent as object), update_control_map: { priority: 1, states } },
});
const shownMap = (update_control_map: object): Step => ({
  id: 'get-update-control-map',
  path: { id: 'another' },
  status: 200,
  body: { update_control_map: { id: 'another', ...update_control_map } },
});
const reject: Step = {
  id: 'set-auth-set-status',
  path: { id: device, aid: 'set' },
  sent: { status: 'rejected' },
  status: 204,
};

/** Steps after which each response is valid, by title. */
const allowedSteps: readonly (readonly [string, readonly Step[]])[] = [
  ['the attributes that were set', [put([a1, b1]), patch([a2]), inventory([a2, b1])]],
  ['attributes in another order', [put([a1, b1]), inventory([b1, a1])]],
  ['old attributes while a write settles', [put([a1]), put([b1]), inventory([a1], {})]],
  [
    'new attributes at once',
    [put([a1]), put([b1], { from: 20_000, to: 20_005 }), inventory([b1], { from: 20_010 })],
  ],
  ['the first value of a name twice', [put([a1, a2]), inventory([a1])]],
  [
    'the effect of a write without a response',
    [put([a1]), patch([a2], { status: 0 }), inventory([a2])],
  ],
  [
    'either value after two writes at once',
    [
      patch([a1], { from: 50, to: 90 }),
      patch([a2], { from: 60, to: 70 }),
      inventory([a1]),
      inventory([a2]),
    ],
  ],
  [
    'either value after a write without a response',
    [put([a1]), patch([a2], { status: 0 }), inventory([a1])],
  ],
  ['either of two values of one name', [put([a1, a2]), inventory([a2])]],
  [
    'a description kept by PATCH',
    [put([{ ...a1, description: 'd' }]), patch([a2]), inventory([{ ...a2, description: 'd' }])],
  ],
  [
    'a description dropped by PATCH',
    [put([{ ...a1, description: 'd' }]), patch([a2]), inventory([a2])],
  ],
  ['only the selected attributes in a search', [put([a1, b1]), search([b1])]],
  ['no attributes of a rejected device', [put([a1]), reject, inventory([])]],
  ['attributes of its own', [put([a1]), inventory([a1, named('c', 3)])]],
  ['attributes of another scope', [put([a1]), inventory([a1, { ...b1, scope: 'tags' }])]],
  [
    'keys that a request does not name',
    [configure({ a: '1' }), configure({ b: '2' }), read({ a: '1', b: '2' })],
  ],
  [
    'only the keys of the last request',
    [configure({ a: '1' }), configure({ b: '2' }), read({ b: '2' })],
  ],
  [
    'keys of a user instead of its own',
    [configure({ a: '1' }), setByUser({ b: '2' }), read({ b: '2' })],
  ],
  ['no alert yet', [alerts([alert]), listed([])]],
  [
    'a monitor configuration in another order',
    [monitor([entry, { ...entry, name: 'x' }]), monitored([{ ...entry, name: 'x' }, entry])],
  ],
  [
    'an alert with its time in another form',
    [alerts([alert]), listed([{ id: '1', ...alert, timestamp: '2026-01-31T13:00:00+01:00' }])],
  ],
  [
    'any log after an upload for an unknown ID',
    [upload('began'), upload('ended', 'v2'), log('ended')],
  ],
  [
    'any log after the abort',
    [
      upload('began'),
      {
        id: 'abort-deployment',
        path: { id: deployment },
        sent: { status: 'aborted' },
        status: 204,
      },
      log(''),
    ],
  ],
  [
    'further members of a control map',
    [
      mapped,
      shownMap({
        ...map,
        states: { ...map.states, ArtifactReboot_Enter: { action: 'continue' } },
      }),
    ],
  ],
  [
    'a removed state that a map leaves out',
    [
      mappedBy({ ArtifactReboot_Enter: { action: 'continue' } }),
      shownMap({ priority: 1, states: {} }),
    ],
  ],
  [
    'part of a write during it',
    [patch([a1, b1], { from: 50, to: 90 }), inventory([b1], { from: 60, to: 70 })],
  ],
  [
    'either order of two writes at once',
    [put([a1], { from: 50, to: 90 }), put([b1], { from: 60, to: 95 }), inventory([a1])],
  ],
  [
    'a kept key beside those of a user',
    [configure({ a: '1' }), setByUser({ b: '2' }), read({ a: '1', b: '2' })],
  ],
];

/**
 * Writes of eight attributes of their own, which may be seen in 256 combinations while they settle.
 */
const eight = 'abcdefgh'.split('').map((name) => patch([named(name, 1)]));

describe('the trackers of what devices and users write', () => {
  it('judge each attribute alone when the whole inventory has too many states', () => {
    expect(violatedBy([...preauthorization, ...eight, inventory([a1, named('c', 1)], {})])).toEqual(
      [],
    );
    const wrong = [...preauthorization, ...eight, inventory([a1, named('c', 2)], {})];
    expect(violatedBy(wrong)).toContain('inventory.number');
  });

  it.each(allowedSteps)('allow a server to show %s', (_, steps) => {
    expect(violatedBy([...preauthorization, ...steps])).toEqual([]);
  });

  it.each(Object.keys(allowances) as AllowanceId[])(
    'report a violation by a good server unless they allow %s',
    (id) => {
      const reported = allowedSteps.filter(
        ([, steps]) => violatedBy([...preauthorization, ...steps], id).length > 0,
      );
      expect(reported).not.toEqual([]);
    },
  );

  it.each<[string, readonly Step[], string]>([
    [
      'an attribute that PUT should remove',
      [put([a1]), put([b1]), inventory([a1, b1])],
      'inventory.put-replaces',
    ],
    [
      'a merge while PUT settles',
      [put([a1]), put([b1]), inventory([a1, b1], {})],
      'inventory.put-replaces',
    ],
    [
      'an attribute that PATCH dropped',
      [put([a1]), patch([b1]), inventory([b1])],
      'inventory.patch-keeps',
    ],
    [
      'an attribute that PATCH should add',
      [put([a1]), patch([b1]), inventory([a1])],
      'inventory.patch-adds',
    ],
    ['the value before a PATCH', [patch([a1]), patch([a2]), inventory([a1])], 'inventory.number'],
    [
      'a list in another order',
      [put([named('l', [3, 1])]), inventory([named('l', [1, 3])])],
      'inventory.numbers',
    ],
    ['a number as a string', [put([a1]), inventory([named('a', '1')])], 'inventory.number'],
    [
      'a lost description',
      [put([{ ...a1, description: 'd' }]), inventory([a1])],
      'inventory.description-is-kept',
    ],
    [
      'a description that PUT should remove',
      [put([{ ...a1, description: 'd' }]), put([a2]), inventory([{ ...a2, description: 'd' }])],
      'inventory.put-replaces-descriptions',
    ],
    [
      'another value for a key',
      [configure({ a: '1' }), read({ a: '2' }, {})],
      'configuration.written-is-read',
    ],
    [
      'an old value for a key',
      [configure({ a: '1' }), configure({ a: '2' }), read({ a: '1' }, {})],
      'configuration.update',
    ],
    [
      'a key that was emptied',
      [configure({ a: '1' }), configure({ a: '' }), read({ a: '' }, {})],
      'configuration.empty-removes',
    ],
    [
      'a key kept once and dropped once',
      [configure({ a: '1', b: '1' }), configure({ c: '2' }), read({ a: '1', c: '2' }, {})],
      'configuration.written-is-read',
    ],
    [
      'an older monitor configuration',
      [monitor([entry]), monitor([{ ...entry, status: 'off' }]), monitored([entry])],
      'monitor.is-current',
    ],
    [
      'an alert of another level',
      [alerts([alert]), listed([{ id: '1', ...alert, level: 'CRITICAL' }])],
      'alerts.are-shown',
    ],
    ['an older log', [upload('began'), upload('ended'), log('began')], 'log.is-kept'],
    [
      'a map of another priority',
      [mapped, shownMap({ ...map, priority: 2 })],
      'map.is-the-assigned-one',
    ],
    [
      'a map without its pause',
      [mapped, shownMap({ ...map, states: {} })],
      'map.is-the-assigned-one',
    ],
  ])('report a violation by a server that shows %s', (_, steps, requirement) => {
    expect(violatedBy([...preauthorization, ...steps])).toContain(requirement);
  });
});

const sure = (value: number, more: Partial<StateWrite<number>> = {}): StateWrite<number> => ({
  sentMs: value * 10,
  endedMs: value * 10 + 5,
  effectDelayMaxMs: 0,
  nextStates: () => [value],
  ...more,
});
const readAt = (sentMs: number) => ({ sentMs, endedMs: sentMs + 5 });

describe('a tracked state', () => {
  it('has only the last of the writes that followed one another', () => {
    const state = new TrackedState<number>([undefined]);
    for (const value of [1, 2, 3]) state.write(sure(value));
    expect(state.possibleAt(readAt(100))).toEqual([3]);
  });

  it('has the results of all orders of three writes at once', () => {
    const state = new TrackedState<number>([0]);
    for (const digit of [1, 2, 3]) {
      const nextStates = (value = 0) => [value * 10 + digit];
      state.write(sure(digit, { sentMs: 0, endedMs: 9, nextStates }));
    }
    expect(state.possibleAt(readAt(10))?.toSorted()).toEqual([123, 132, 213, 231, 312, 321]);
  });

  it('is not tracked beyond 64 possible states', () => {
    const state = new TrackedState<number>([0]);
    for (const bit of [1, 2, 4, 8, 16, 32]) {
      state.write(sure(bit, { effectDelayMaxMs: 5000, nextStates: (value = 0) => [value + bit] }));
    }
    expect(state.possibleAt(readAt(1000))).toHaveLength(64);
    state.write(sure(64, { effectDelayMaxMs: 5000, nextStates: (value = 0) => [value + 64] }));
    expect(state.possibleAt(readAt(1000))).toBeUndefined();
  });
});
