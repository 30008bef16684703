/** Duties of configuration, monitor and control maps. Spec: Device configuration; Device monitor */
import { isPollOperation } from '../../../fixtures/contract/operation-ids.ts';
import type { JudgedExchange } from '../../passive/judged-exchange.ts';
import { describeValue } from '../../target/expectations.ts';
import { entriesOf, membersOf } from '../../target/json-members.ts';
import type { Duty } from '../duty.ts';
import { alertKeys, isTooSoon } from '../exchange-facts.ts';
import { hasReceivedResponse, TOO_FREQUENT_REPEATS_MAX } from '../exemptions.ts';
import { bodyDuty } from './body-duty.ts';

const SECOND_MS = 1000;
const SOON_POLLS = 10;
/** A clock that is further from the server's was never set. */
const CLOCK_MAX_MS = 366 * 86_400_000;
const alerting = ['post-alerts'];
const reporting = ['put-deployment-status'];
const fetchingMap = ['get-update-control-map'];

/** The statuses of an update that a state of the control map holds back. */
const heldBack: Readonly<Record<string, readonly [pause: string, next: string]>> = {
  ArtifactInstall_Enter: ['pause_before_installing', 'installing'],
  ArtifactReboot_Enter: ['pause_before_rebooting', 'rebooting'],
  ArtifactCommit_Enter: ['pause_before_committing', 'success'],
};

const configurationDuties: readonly Duty[] = [
  bodyDuty({
    id: 'config.strings',
    level: 'must',
    sentence: 'A device reports its configuration as strings.',
    source: 'DeviceAPIConfiguration: string values',
    remedy: 'write every value as a string, each key once, and leave out what is not set',
    operations: ['put-configuration'],
    namesOnce: true,
  }),
  {
    id: 'config.reports-after-apply',
    level: 'should',
    sentence: 'A device reports the configuration that it has applied.',
    source: 'Device configuration: PUT; field notes 3.3',
    evidence: 'the report of the configuration before or after success of its deployment',
    exemptions: 'a device that has never read or reported a configuration',
    remedy: 'send the applied map by PUT, before or soon after success',
    scene: 'configuration',
    reaction: {
      dueAfter: {
        exchange: ({ operation, status, responseJson }, { event, client }) =>
          status === 200 &&
          hasReceivedResponse(event) &&
          client.areas.has('config') &&
          isPollOperation(operation) &&
          String(membersOf(membersOf(membersOf(responseJson).artifact).source).uri).includes(
            '/download/configuration/',
          ),
      },
      metBy: {
        exchange: ({ operation, isSuccess }) => operation.id === 'put-configuration' && isSuccess,
      },
      brokenBy: (_, __, due) =>
        due.polls > SOON_POLLS
          ? { part: 'a configuration', expected: 'be reported', actual: 'only polls' }
          : undefined,
      cancelledBy: {
        serverEvents: ['client-killed', 'deployment-aborted'],
        exchange: ({ operation, requestJson }) =>
          reporting.includes(operation.id) && membersOf(requestJson).status === 'failure',
      },
      expected: 'report the configuration that it was given',
    },
  },
];

const monitorDuties: readonly Duty[] = [
  bodyDuty({
    id: 'alert.shape',
    level: 'must',
    sentence: 'A device sends alerts with all fields of the contract.',
    source: 'Alert; AlertSubject; AlertDetails',
    remedy: 'send an array, level OK or CRITICAL, timestamp with zone, and the whole subject',
    operations: alerting,
  }),
  {
    id: 'alert.no-flood',
    level: 'should',
    sentence: 'A device sends no more than one equal alert a second and subject.',
    source: 'Device monitor: a state is reached, or returns to normal',
    evidence: 'name, level and subject of alerts, within a body and within a second',
    remedy: 'send an alert when the state of its subject changes',
    operations: alerting,
    applies: ({ requestJson }) => entriesOf(requestJson).length > 0,
    violation: (exchange, { client }) => {
      const keys = alertKeys(exchange);
      const again = keys.filter(
        (key, at) => keys.indexOf(key) < at || isSoon(client.alerts.get(key), exchange),
      );
      if (again.length === 0) return undefined;
      return { part: 'an alert', expected: 'not repeat within a second', actual: 'an equal one' };
    },
  },
  {
    id: 'alert.clock-set',
    level: 'should',
    sentence: 'A device sends alerts with a time of this year.',
    source: 'Alert: timestamp, when the alert occurred',
    evidence: 'the timestamp of an alert, and the time of the server',
    exemptions: 'a clock of the server that was moved',
    remedy: 'wait until the clock of the device is set, by NTP or a battery',
    operations: alerting,
    applies: ({ requestJson }, { client }) =>
      !client.isClockMoved && timesIn(requestJson).some((time) => !Number.isNaN(time)),
    violation: ({ requestJson }, { event }) => {
      const wrongTime = timesIn(requestJson).find(
        (time) => Math.abs(event.serverNowMs - time) > CLOCK_MAX_MS,
      );
      if (wrongTime === undefined) return undefined;
      const actual = new Date(wrongTime).toISOString();
      return { part: 'timestamp', expected: 'be within a year of now', actual };
    },
  },
  bodyDuty({
    id: 'monitor.config-shape',
    level: 'must',
    sentence: 'A device describes its monitors by name, status and type.',
    source: 'MonitorConfiguration',
    remedy: 'send an array of objects with the three strings',
    operations: ['post-monitor-configuration'],
  }),
];

const mapDuties: readonly Duty[] = [
  {
    id: 'map.announced-only-if-kept',
    level: 'must',
    sentence: 'A device that announces control maps pauses where the map says so.',
    source: 'Device deployments v2: update_control_map, true if the device supports them',
    evidence: 'reports on a deployment whose map pauses a state, also after the map was fetched',
    exemptions: 'a map that the server has lifted since',
    remedy: 'read artifact.update_control_map, or do not send update_control_map: true',
    scene: 'control-map',
    operations: reporting,
    applies: ({ deploymentId }, { client }) =>
      (client.deployments.offers.get(deploymentId)?.pauses?.length ?? 0) > 0,
    violation: (exchange, { client: { deployments, lastMap } }) => {
      const { deploymentId, requestJson } = exchange;
      const { pauses = [], reports = [], mapFetches } = deployments.offers.get(deploymentId) ?? {};
      const { status } = membersOf(requestJson);
      const skippedPause = pauses.find((state) => {
        const [pause, nextStatus] = heldBack[state] ?? [];
        return nextStatus === status && !reports.includes(pause);
      });
      if (skippedPause !== undefined)
        return {
          part: 'the device',
          expected: `pause at ${skippedPause}`,
          actual: describeValue(status),
        };
      // A pause that is never lifted may expire, but not because the map was fetched.
      const heldBackState = pauses.find((state) => heldBack[state]?.[1] === status);
      const isAtOnce = mapFetches === 1 && lastMap?.isRead && isTooSoon(lastMap, exchange);
      if (heldBackState === undefined || !isAtOnce) return undefined;
      const actual = `${describeValue(status)} after a map that still pauses`;
      return { part: 'the device', expected: `go on pausing at ${heldBackState}`, actual };
    },
  },
  {
    id: 'map.reports-pause',
    level: 'must',
    sentence: 'A device that pauses reports it.',
    source: 'DeploymentStatus: the pause_* values',
    evidence: 'the report before the control map is fetched for the second time',
    remedy: 'report the pause_before_* value of the state when the pause begins',
    scene: 'control-map',
    operations: fetchingMap,
    exemptions: 'a device that looks at the newest map before it pauses',
    // A device may also fetch a map that lets it go on.
    applies: ({ deploymentId }, { client }) =>
      (client.deployments.offers.get(deploymentId)?.pauses?.length ?? 0) > 0,
    violation: ({ deploymentId }, { client }) => {
      const { reports = [], mapFetches = 0 } = client.deployments.offers.get(deploymentId) ?? {};
      const isReported = reports.some((status) => String(status).startsWith('pause_'));
      if (isReported || mapFetches === 0) return undefined;
      return {
        part: 'a pause',
        expected: 'be reported',
        actual: 'a second fetch of the map without one',
      };
    },
  },
  {
    id: 'map.fetches',
    level: 'should',
    sentence: 'A device that pauses fetches the map again at a bounded rate until it may go on.',
    source: 'Device deployments v2: GET update_control_map; Errors: 429',
    evidence: 'what follows the report of a pause, and pauses between fetches of the map',
    remedy: 'fetch the map at the interval of polls while the device pauses',
    scene: 'control-map',
    operations: fetchingMap,
    applies: (exchange, { client }) => client.mapFetchBefore(exchange) !== undefined,
    violation: (exchange, { client }) => {
      const earlierFetch = client.mapFetchBefore(exchange);
      if (
        !isTooSoon(earlierFetch, exchange) ||
        earlierFetch?.tooFrequentCount !== TOO_FREQUENT_REPEATS_MAX
      )
        return undefined;
      const actual = 'less, three times in a row';
      return {
        part: 'the pause between fetches of the map',
        expected: 'last 1 s or more',
        actual,
      };
    },
    reaction: {
      dueAfter: {
        exchange: ({ operation, requestJson, isSuccess }) =>
          reporting.includes(operation.id) &&
          isSuccess &&
          String(membersOf(requestJson).status).startsWith('pause_'),
      },
      metBy: {
        exchange: ({ operation, status }) => fetchingMap.includes(operation.id) && status === 200,
      },
      cancelledBy: { serverEvents: ['deployment-aborted', 'client-killed'] },
      expected: 'fetch the control map',
    },
  },
  {
    id: 'map.404-ends',
    level: 'should',
    sentence: 'A device treats a 404 of the map as the end of its deployment.',
    source: 'Errors: 404, the deployment does not exist or has finished',
    evidence: 'fetches of the map after a 404',
    remedy: 'end the update at a 404, and poll on',
    scene: 'control-map',
    reaction: {
      dueAfter: {
        exchange: ({ operation, status }, { event }) =>
          fetchingMap.includes(operation.id) && status === 404 && hasReceivedResponse(event),
      },
      metBy: {
        exchange: ({ operation }) => isPollOperation(operation) || reporting.includes(operation.id),
      },
      brokenBy: ({ operation, status }, _, { exchanges }) =>
        fetchingMap.includes(operation.id) && status === 404 && exchanges > TOO_FREQUENT_REPEATS_MAX
          ? { part: 'a 404 of the map', expected: 'end the pause', actual: 'further fetches' }
          : undefined,
      cancelledBy: { serverEvents: ['client-killed'] },
      expected: 'end the deployment',
    },
  },
  {
    id: 'map.expires',
    level: 'observed',
    sentence: 'A device whose pause is never lifted does what it chooses.',
    source: 'UpdateControlMap: further fields are not shown',
    evidence: 'the report after the last pause',
    remedy: 'none is needed',
    scene: 'control-map',
    observation: ({ deployments: { offers } }) => {
      const { reports = [] } = offers.values.at(-1) ?? {};
      const at = reports.findLastIndex((status) => String(status).startsWith('pause_'));
      return at < 0
        ? undefined
        : `after ${describeValue(reports[at])}: ${describeValue(reports[at + 1] ?? 'nothing')}`;
    },
  },
];

export const serviceDuties: readonly Duty[] = [
  ...mapDuties,
  ...configurationDuties,
  ...monitorDuties,
];

function timesIn(sent: unknown): readonly number[] {
  return entriesOf(sent).map((alert) => Date.parse(String(membersOf(alert).timestamp)));
}

/** Equal times prove nothing, because the clock of the recorder may be frozen. */
function isSoon(lastMs: number | undefined, { request }: JudgedExchange): boolean {
  if (lastMs === undefined) return false;
  const apart = request.sentMs - lastMs;
  return apart > 0 && apart < SECOND_MS;
}
