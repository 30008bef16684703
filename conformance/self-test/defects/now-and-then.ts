/** Defects of one response in three, which only passive checks of every exchange find reliably. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { changedAt, changedJson, withHeaders, withText } from '../alter.ts';
import { oneResponseOf } from '../alterations.ts';
import type { Defect, ProxiedOperation, ProxiedRequest, ProxiedResponse } from '../defect.ts';

/** One in this many responses is wrong. */
const ONE_IN = 3;
/** Number of affected cases to run; any few of them must kill the defect. */
const SAMPLE = 12;
const longAgo = '2020-01-31T12:00:00Z';

type ResponseChange = (response: ProxiedResponse, request: ProxiedRequest) => ProxiedResponse;

function oneInThree(
  id: string,
  title: string,
  {
    violates,
    on,
    change,
  }: {
    readonly violates: readonly [RequirementId, ...RequirementId[]];
    readonly on: ProxiedOperation;
    readonly change: ResponseChange;
  },
): Defect {
  const alter = oneResponseOf(ONE_IN, change);
  return { id: `seldom-${id}`, title, violates, operations: [on], sample: SAMPLE, alter };
}

function inJson(change: (body: unknown) => unknown): ResponseChange {
  return (response) => {
    if (response.status !== 200) return response;
    const changedResponse = changedJson(response, change);
    return changedResponse.body.equals(response.body) ? response : changedResponse;
  };
}

function at(path: string, change: (value: unknown) => unknown): ResponseChange {
  return inJson((body) => changedAt(body, path, change));
}

function header(name: string, change: (value: string) => string | undefined): ResponseChange {
  return (response) => {
    const value = response.headers[name];
    if (value === undefined) return response;
    const changedValue = change(value);
    return changedValue === value ? response : withHeaders(response, { [name]: changedValue });
  };
}

const otherText = (value: unknown): unknown => `${String(value)}2`;
const otherId = (value: unknown): unknown =>
  String(value).replace(/.$/, (lastDigit) => (lastDigit === '0' ? '1' : '0'));

/** Defects in artifacts and their links. Spec: Artifact; Device deployments v1 */
const artifacts: readonly Defect[] = [
  oneInThree('other-artifact', 'One artifact in three has an ID other than the one in its path.', {
    violates: ['artifacts.fields', 'artifacts.id'],
    on: 'get-artifact',
    change: at('id', otherId),
  }),
  oneInThree('other-release', 'One list in three names a release other than the requested one.', {
    violates: ['artifacts.list-selects-release', 'artifacts.name'],
    on: 'list-artifacts',
    change: at('*.name', otherText),
  }),
  oneInThree('other-types', 'One list in three has artifacts for another device type.', {
    violates: ['artifacts.list-selects', 'artifacts.device-types'],
    on: 'list-artifacts',
    change: at('*.device_types_compatible', () => ['another']),
  }),
  oneInThree('other-size', 'One artifact in three changes its size.', {
    violates: ['artifacts.size'],
    on: 'get-artifact',
    change: at('size', (size) => Number(size) + 1),
  }),
  oneInThree('modified-before', 'One artifact in three was modified years before it was created.', {
    violates: ['artifacts.modified'],
    on: 'get-artifact',
    change: at('modified', () => longAgo),
  }),
  oneInThree('expired-link', 'One link in three has already expired when it is issued.', {
    violates: ['link.expire-is-later', 'link.expire'],
    on: 'get-artifact-link',
    change: at('expire', () => longAgo),
  }),
];

/**
 * Defects in deployment instructions, update control maps and configurations.
 * Spec: DeploymentInstructions (v1), DeploymentInstructions (v2); UpdateControlMap
 */
const deployments: readonly Defect[] = [
  oneInThree('more-instructed-types', 'One instruction in three adds a device type.', {
    violates: ['next.types-of-the-artifact'],
    on: 'get-next-deployment',
    change: at('artifact.device_types_compatible', (types) =>
      Array.isArray(types) ? [...types, 'another'] : types,
    ),
  }),
  oneInThree('expired-source', 'One source in three has already expired when it is issued.', {
    violates: ['next.source-expires-later'],
    on: 'post-next-deployment',
    change: at('artifact.source.expire', () => longAgo),
  }),
  oneInThree('other-map-in-instructions', 'One map in three in instructions has another ID.', {
    violates: ['next.control-map-id'],
    on: 'post-next-deployment-v2',
    change: at('artifact.update_control_map.id', otherId),
  }),
  oneInThree('other-map', 'One map in three has the ID of another deployment.', {
    violates: ['map.id-is-the-deployment'],
    on: 'get-update-control-map',
    change: at('update_control_map.id', otherId),
  }),
  oneInThree('half-a-configuration', 'One configuration in three is cut off in the middle.', {
    violates: ['download.gives-the-configuration', 'download.holds-the-pairs'],
    on: 'download-configuration',
    change: (response) => {
      if (response.status !== 200) return response;
      return { ...response, body: response.body.subarray(0, response.body.length / 2) };
    },
  }),
];

/** Defects in the upgrade of a device's connection. Spec: Device connect */
const connections: readonly Defect[] = [
  oneInThree('wrong-accept', 'One upgrade in three answers another key.', {
    violates: ['connect.accept-matches-the-key'],
    on: 'connect',
    change: header('sec-websocket-accept', (accept) => [...accept].reverse().join('')),
  }),
  oneInThree('other-protocol', 'One upgrade in three is to another protocol.', {
    violates: ['connect.response-upgrade'],
    on: 'connect',
    change: header('upgrade', () => 'h2c'),
  }),
];

function ofLog(change: ResponseChange): {
  readonly on: 'list-audit-logs';
  readonly change: ResponseChange;
} {
  return { on: 'list-audit-logs', change };
}

/** Defects in pages of the audit log. Spec: AuditLog entry; Audit logs */
const log: readonly Defect[] = [
  oneInThree('other-object', 'One page in three has entries on another object.', {
    violates: ['audit.object-filters', 'audit.object-id'],
    ...ofLog(at('*.object.id', otherId)),
  }),
  oneInThree('unsorted-page', 'One page in three is in reverse order.', {
    violates: ['audit.newest-first', 'audit.sort-asc', 'audit.sort-desc'],
    ...ofLog(inJson((body) => (Array.isArray(body) ? body.toReversed() : body))),
  }),
  oneInThree('unsorted-export', 'One export in three has its first two entries swapped.', {
    violates: ['audit.export-newest-first', 'audit.export-sort-asc', 'audit.export-sort-desc'],
    on: 'export-audit-logs',
    change: (response) => {
      const [head = '', one, other, ...rest] = response.body.toString('utf8').split('\r\n');
      const isLong = response.status === 200 && one !== undefined && (other ?? '') !== '';
      return isLong ? withText(response, [head, other, one, ...rest].join('\r\n')) : response;
    },
  }),
  oneInThree('other-member', 'One page in three fills the member of another object type.', {
    violates: ['audit.object-fields-by-type'],
    ...ofLog(
      at('*.object', (object) => ({ ...(object as object), user: { email: 'a@example.com' } })),
    ),
  }),
  oneInThree('high-total', 'One total in three is too high by one.', {
    violates: ['audit.total', 'audit.link-next'],
    ...ofLog(header('x-total-count', (total) => String(Number(total) + 1))),
  }),
  oneInThree('no-next', 'One page in three does not lead to the next.', {
    violates: ['audit.link-next', 'audit.links-work'],
    ...ofLog(header('link', (link) => link.replace('rel="next"', 'rel="more"'))),
  }),
];

export const nowAndThenDefects: readonly Defect[] = [
  ...[...artifacts, ...deployments],
  ...[...connections, ...log],
];
