import { describe, expect, it } from 'vitest';
import {
  deployment,
  device,
  preauthorization,
  type Step,
  violatedBy,
} from '../../testing/invented-cases.ts';
import { TrackedValue } from './tracked-value.ts';

const path = { id: deployment };
const report = (status: string, answered = 204, times: Partial<Step> = {}): Step => ({
  id: 'put-deployment-status',
  path,
  sent: { status },
  status: answered,
  ...(answered >= 400 && { body: { error: 'no' } }),
  ...times,
});
const abort: Step = { id: 'abort-deployment', path, sent: { status: 'aborted' }, status: 204 };
const read = (status: string, times: Partial<Step> = {}): Step => ({
  id: 'list-deployment-devices',
  path,
  status: 200,
  body: [{ id: device, status, created: '2026-01-31T12:00:00Z', log: false }],
  ...times,
});
const offered: Step = {
  id: 'get-next-deployment',
  query: '?artifact_name=a&device_type=b',
  status: 200,
  body: {
    id: deployment,
    artifact: { artifact_name: 'release-1', source: {}, device_types_compatible: ['b'] },
  },
};

describe('the tracker of deployments', () => {
  it.each<[string, readonly Step[]]>([
    ['the reported state', [report('installing'), read('installing')]],
    ['any state before the first report', [read('noartifact')]],
    [
      'either state while the report is under way',
      [
        report('installing', 204, { from: 30, to: 40 }),
        report('rebooting', 204, { from: 50, to: 90 }),
        read('installing', { from: 60, to: 70 }),
      ],
    ],
    [
      'either state after two reports at once',
      [
        report('installing', 204, { from: 30, to: 60 }),
        report('rebooting', 204, { from: 40, to: 70 }),
        read('installing', { from: 80, to: 90 }),
      ],
    ],
    [
      'either state after a report without a response',
      [report('installing'), report('success', 0), read('installing'), read('success')],
    ],
    [
      'the state before an abort until it takes effect',
      [report('installing'), abort, read('installing'), read('aborted')],
    ],
    [
      'any state after a report of an earlier status',
      [report('rebooting'), report('downloading'), read('rebooting')],
    ],
    ['an offer again after an abort whose effect is not seen yet', [offered, abort, offered]],
    [
      'any state after an abort of a finished deployment',
      [report('success'), abort, read('aborted')],
    ],
  ])('allows a server to show %s', (_, steps) => {
    expect(violatedBy([...preauthorization, ...steps])).toEqual([]);
  });

  it.each<[string, readonly Step[], string]>([
    [
      'another state than the reported one',
      [report('installing'), read('downloading')],
      'status.becomes-the-state',
    ],
    [
      'a state that a later report replaced',
      [report('downloading'), report('success'), read('downloading')],
      'status.becomes-the-state',
    ],
    [
      'a reported state after the abort was seen',
      [report('installing'), abort, read('aborted'), read('installing')],
      'status.aborted-stays',
    ],
    [
      'a report taken after a report was refused for the abort',
      [report('downloading'), abort, report('installing', 409), report('success')],
      'status.aborted-is-409',
    ],
    [
      'an offer of a finished deployment',
      [offered, report('success'), offered],
      'next.finished-is-over',
    ],
    [
      'an offer of a deployment that was seen aborted',
      [offered, report('downloading'), abort, read('aborted'), offered],
      'next.aborted-is-over',
    ],
  ])('reports a violation by a server that shows %s', (_, steps, requirement) => {
    expect(violatedBy([...preauthorization, ...steps])).toContain(requirement);
  });
});

const authSet = '2f4a1c52-6f0e-4d4b-9d51-0e9a8f0c7b33';
const request = (status: number, pubkey = 'a key'): Step => ({
  id: 'post-auth-request',
  sent: { id_data: '{"mac":"1"}', pubkey },
  status,
  ...(status === 200
    ? { body: 'a-token', headers: { 'content-type': 'application/jwt' } }
    : { body: { error: 'no' } }),
});
const keyShown = (pubkey = 'a key'): Step => ({
  id: 'list-devices',
  status: 200,
  body: [{ id: device, identity_data: { mac: '1' }, auth_sets: [{ id: authSet, pubkey }] }],
});
const decide = (decision: string, status = 204): Step => ({
  id: 'set-auth-set-status',
  path: { id: device, aid: authSet },
  sent: { status: decision },
  status,
});
const deleted: Step = { id: 'delete-auth-set', path: { id: device, aid: authSet }, status: 204 };
const decommissioned: Step = { id: 'decommission-device', path: { id: device }, status: 204 };

describe('the tracker of decisions on keys', () => {
  it.each<[string, readonly Step[]]>([
    ['a pre-authorized key', [...preauthorization, request(200)]],
    ['a key that a user accepted', [request(401), keyShown(), decide('accepted'), request(200)]],
    [
      'a key that may have been accepted, since nothing answered',
      [request(401), keyShown(), decide('accepted', 0), request(200)],
    ],
    [
      'a key that is accepted again after its rejection',
      [request(401), keyShown(), decide('rejected'), decide('accepted'), request(200)],
    ],
    [
      'a new key after a decision on a key that users are shown in another form',
      [request(401), keyShown('the key'), decide('accepted'), request(200)],
    ],
    [
      'an accepted key beside one that waits',
      [...preauthorization, request(401, 'another'), request(200)],
    ],
  ])('allows a token for %s', (_, steps) => {
    expect(violatedBy(steps)).toEqual([]);
  });

  it.each<[string, readonly Step[], string]>([
    ['an unknown device', [request(200)], 'auth.first-contact-is-401'],
    ['the second request of a device', [request(401), request(200)], 'auth.undecided-is-401'],
    [
      'the second request with a new key',
      [...preauthorization, request(401, 'another'), request(200, 'another')],
      'auth.new-key-waits',
    ],
    [
      'a rejected key',
      [request(401), keyShown(), decide('accepted'), decide('rejected'), request(200)],
      'auth.rejected-is-refused',
    ],
    [
      'a key that a user has deleted',
      [request(401), keyShown(), decide('accepted'), deleted, request(200)],
      'auth.undecided-is-401',
    ],
    [
      'a decommissioned device',
      [...preauthorization, decommissioned, request(200)],
      'auth.decommissioned-is-unknown',
    ],
  ])('reports a violation by a token for %s', (_, steps, requirement) => {
    expect(violatedBy(steps)).toEqual([requirement]);
  });
});

const entry = (action: string, more: object = {}) => ({
  actor: { id: 'u', type: 'user', email: 'ann@example.com' },
  time: '2026-01-31T11:59:59.500Z',
  action,
  object: { id: deployment, type: 'deployment', deployment: { name: 'Tür', artifact_name: 'r' } },
  ...more,
});
const list = (query: string, entries: readonly unknown[]): Step => ({
  id: 'list-audit-logs',
  query: `?${query}`,
  status: 200,
  body: entries,
  headers: { 'x-total-count': String(entries.length), link: '<http://host/>; rel="first"' },
});
const own = list(`object_id=${deployment}`, [entry('create')]);

describe('the tracker of the audit log', () => {
  it.each<[string, readonly Step[]]>([
    ['an entry that is not there yet', [list(`object_id=${deployment}`, [])]],
    ['an entry that does not fit another filter', [own, list('object_deployment_name=T', [])]],
    ['an entry of the second of the bound, or none', [own, list('created_before=1769860799', [])]],
    [
      'further actions of its own on the object',
      [list(`object_id=${deployment}`, [entry('create'), entry('update')])],
    ],
    [
      'as many entries as acts',
      [abort, abort, list(`object_id=${deployment}`, [entry('abort'), entry('abort')])],
    ],
  ])('allows a server to list %s', (_, steps) => {
    expect(violatedBy([...preauthorization, ...steps])).toEqual([]);
  });

  it.each<[string, readonly Step[], string]>([
    [
      'two entries on one act',
      [list(`object_id=${deployment}`, [entry('create'), entry('create')])],
      'audit.one-entry-per-action',
    ],
    [
      'an entry that a filter beyond ASCII drops',
      [own, list(`object_deployment_name=${encodeURIComponent('Tür')}`, [])],
      'audit.object-deployment-name-filter',
    ],
    [
      'an entry that two filters drop together',
      [own, list('actor_type=user&object_type=deployment', [])],
      'audit.filters-combine',
    ],
    ['an entry that is gone', [own, list(`object_id=${deployment}`, [])], 'audit.object-filters'],
    [
      'an entry on a deployment of another name',
      [list('object_deployment_name=T', [entry('create')])],
      'audit.object-deployment-name-filter',
    ],
  ])('reports a violation by an audit log with %s', (_, steps, requirement) => {
    expect(violatedBy([...preauthorization, ...steps])).toContain(requirement);
  });
});

describe('a tracked value', () => {
  it('is not tracked beyond 64 possible values', () => {
    const value = new TrackedValue<number>();
    value.write(0, { sentMs: 0, endedMs: 1 });
    for (let each = 1; each < 64; each += 1) value.write(each, { sentMs: 2, endedMs: 10 });
    expect(value.possibleAt({ sentMs: 3, endedMs: 4 })).toHaveLength(64);
    value.write(64, { sentMs: 2, endedMs: 10 });
    expect(value.possibleAt({ sentMs: 3, endedMs: 4 })).toBeUndefined();
  });
});
