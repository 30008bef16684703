/**
 * Every request by which a device writes, except authentication requests: valid bodies, bodies with
 * one mistake, and the effect that users see.
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import type { OfferedDeployment } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import type { Capability } from '../../suite/case.ts';
import { sorted } from '../../target/expectations.ts';
import { alert, line, service, subject } from '../monitor/monitor-samples.ts';

/** The text in everything that a refused request would write. */
export const refusedMarker = 'from-a-refused-request';
const entry = { timestamp: '2026-01-31T12:00:00Z', level: 'info', message: refusedMarker };

/** An element of a list with one wrong member, and the requirement that it misses. */
type InvalidElement = readonly [requirement: RequirementId, element: object];

/** A list that a device writes. */
export interface WrittenList {
  /** Returns a valid element that contains the text. */
  readonly validElement: (text: string) => object;
  readonly invalidElements: Readonly<Record<string, InvalidElement>>;
  readonly body: (elements: readonly object[]) => object;
}

/** A request by which a device writes, and what users see of its effect. */
export interface Write {
  readonly operation: OperationOfWrite;
  readonly label: string;
  readonly needs: readonly Capability[];
  /** Returns a valid body that contains the text. */
  readonly body: (text: string) => object;
  readonly list?: WrittenList;
  /** Invalid bodies, some of whose parts are valid; those of lists follow from `list`. */
  readonly invalidBodies: Readonly<Record<string, object>>;
  /** Returns the texts that users see, in a canonical order. */
  readonly readEffect: (
    arranged: OfferedDeployment,
    context: TestContext,
  ) => Promise<readonly unknown[]>;
}

type OperationOfWrite =
  | 'put-deployment-status'
  | 'put-deployment-log'
  | 'put-configuration'
  | 'post-alerts'
  | 'post-monitor-configuration'
  | 'patch-attributes'
  | 'put-attributes';

const logs: WrittenList = {
  validElement: (message) => ({ ...entry, message }),
  invalidElements: {
    'no timestamp': ['log.timestamp-is-required', { level: 'info', message: refusedMarker }],
    'no level': ['log.level-is-required', { timestamp: entry.timestamp, message: refusedMarker }],
    'no message': ['log.message-is-required', { timestamp: entry.timestamp, level: 'info' }],
    'a word as timestamp': ['log.timestamp-is-a-date-time', { ...entry, timestamp: 'yesterday' }],
  },
  body: (messages) => ({ messages }),
};

const { name: _, ...nameless } = alert;
const { timestamp: __, ...timeless } = alert;

const alerts: WrittenList = {
  validElement: (name) => ({ ...alert, name }),
  invalidElements: {
    'no name': ['alerts.name', nameless],
    'no timestamp': ['alerts.timestamp', { ...timeless, name: refusedMarker }],
    'the level WARNING': ['alerts.levels', { ...alert, name: refusedMarker, level: 'WARNING' }],
    'a subject without status': [
      'alerts.subject-status',
      { ...alert, name: refusedMarker, subject: { name: subject.name, type: subject.type } },
    ],
    'a line without data': [
      'alerts.line-data',
      {
        ...alert,
        name: refusedMarker,
        subject: { ...subject, details: { lines_after: [line, { line_number: 1 }] } },
      },
    ],
  },
  body: (elements) => elements,
};

const monitors: WrittenList = {
  validElement: (name) => ({ ...service, name }),
  invalidElements: {
    'no name': ['monitor.name', { status: 'enabled', type: refusedMarker }],
    'no status': ['monitor.status', { name: refusedMarker, type: 'service' }],
    'a number as type': ['monitor.type', { ...service, name: refusedMarker, type: 7 }],
  },
  body: (elements) => elements,
};

const attributes: WrittenList = {
  validElement: (name) => ({ name, value: name }),
  invalidElements: {
    'no name': ['inventory.name', { value: refusedMarker }],
    'no value': ['inventory.value', { name: refusedMarker }],
    'a boolean as value': ['inventory.other-kinds-are-400', { name: refusedMarker, value: true }],
    'a mixed array as value': [
      'inventory.mixed-arrays-are-400',
      { name: refusedMarker, value: ['a', 1] },
    ],
    'a number as description': [
      'inventory.description',
      { name: refusedMarker, value: 1, description: 7 },
    ],
  },
  body: (elements) => elements,
};

function ofList(
  operation: OperationOfWrite,
  list: WrittenList,
  row: Pick<Write, 'label' | 'needs' | 'readEffect'>,
): Write {
  return {
    ...row,
    operation,
    list,
    body: (text) => list.body([list.validElement(text)]),
    invalidBodies: {},
  };
}

async function readAttributes({ device }: OfferedDeployment, { admin }: TestContext) {
  const all = await admin.attributes(device.id);
  return sorted(all.map(({ name, value }) => ({ name, value })));
}

/** Every write of a device. */
export const writes: readonly Write[] = [
  {
    operation: 'put-deployment-status',
    label: 'status report',
    needs: [],
    // The status shows the effect: a substate may be lost when a status is repeated.
    body: (text) => ({ status: text === refusedMarker ? 'rebooting' : 'downloading' }),
    invalidBodies: {
      'a status that no device reports': { status: 'aborted', substate: refusedMarker },
      'a status in capital letters': { status: 'INSTALLING', substate: refusedMarker },
      'a number as substate': { status: 'rebooting', substate: 7 },
    },
    readEffect: async ({ device, deploymentId }, { admin }) => {
      const shownDeployment = await admin.deviceDeployment(deploymentId, device.id);
      return [shownDeployment?.status, shownDeployment?.substate === refusedMarker];
    },
  },
  ofList('put-deployment-log', logs, {
    label: 'log',
    needs: [],
    readEffect: async ({ device, deploymentId }, { admin }) => {
      const log = await admin.deploymentLog(deploymentId, device.id);
      return log === undefined ? [] : [log];
    },
  }),
  {
    operation: 'put-configuration',
    label: 'configuration',
    needs: ['configuration'],
    body: (text) => ({ [text]: 'value', probe: text }),
    invalidBodies: {
      'a number before a valid pair': { wrong: 7, [refusedMarker]: 'value', probe: refusedMarker },
      'null between valid pairs': { [refusedMarker]: 'value', wrong: null, probe: refusedMarker },
      'an object after valid pairs': { [refusedMarker]: 'value', probe: refusedMarker, wrong: {} },
      'a list beside an empty value': { probe: '', wrong: [] },
    },
    readEffect: async ({ device }, { admin }) => {
      const { configured, reported } = await admin.configuration(device.id);
      const pairs = (all: Readonly<Record<string, string>>) => sorted(Object.entries(all));
      const isEmpty = Object.keys({ ...configured, ...reported }).length === 0;
      return isEmpty ? [] : [pairs(configured), pairs(reported)];
    },
  },
  ofList('post-alerts', alerts, {
    label: 'list of alerts',
    needs: ['monitor'],
    readEffect: async ({ device }, { admin }) =>
      sorted((await admin.alerts(device.id)).map(({ name }) => name)),
  }),
  ofList('post-monitor-configuration', monitors, {
    label: 'list of monitor configurations',
    needs: ['monitor'],
    readEffect: async ({ device }, { admin }) => {
      const all = await admin.monitorConfiguration(device.id);
      return sorted(all.map(({ name, status, type }) => ({ name, status, type })));
    },
  }),
  ofList('patch-attributes', attributes, {
    label: 'list of attributes by PATCH',
    needs: ['inventory'],
    readEffect: readAttributes,
  }),
  ofList('put-attributes', attributes, {
    label: 'list of attributes by PUT',
    needs: ['inventory'],
    readEffect: readAttributes,
  }),
];
