/**
 * Cases: the quantities of data that real devices send. The contract does not limit them. Larger
 * quantities are observed by the cases of each area. Spec: DeploymentLog; Device inventory
 */
import { arrangeReports } from '../../context/deployment-life.ts';
import {
  acceptedDevice,
  activeDeployment,
  factoryProvides,
  instructedId,
  type OfferedDeployment,
  preauthorizedDevice,
  requireStatus,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  anySuccess,
  describeValue,
  ExpectationFailure,
  expectEqual,
  expectJson,
  expectStatus,
  expectThat,
} from '../../target/expectations.ts';
import type { WriteOperation } from '../inventory/inventory-writing.ts';
import { alert, sendAlerts, sendConfiguration, service } from '../monitor/monitor-samples.ts';

const DEPLOYMENTS = 10;
/** One more than the round number at which a careless server stops. */
const DEVICES = 101;
/** Number of concurrent devices; the rate limit of the run still applies. */
const AT_ONCE = 5;

function numbered<Item>(count: number, item: (number: number) => Item): readonly Item[] {
  return Array.from({ length: count }, (_, index) => item(index + 1));
}

function line(message: string): object {
  return { timestamp: '2026-01-31T12:00:00Z', level: 'info', message };
}

/** Uploads the lines as a log, and asserts that users read each line as often as it was sent. */
async function expectLogKept(
  { device, id, deploymentId }: OfferedDeployment,
  context: TestContext,
  lines: readonly string[],
): Promise<void> {
  const body = { messages: lines.map(line) };
  expectStatus(await device.call('put-deployment-log', { path: { id }, body }), 204);
  const lastLine = lines.at(-1) ?? '';
  const log = await context.eventually(
    () => context.admin.deploymentLog(deploymentId, device.id),
    (text) => text?.includes(lastLine) ?? false,
  );
  expectEach(lines, log ?? '');
}

/** Asserts that the log has each line at least as often as it was sent, in any order. */
function expectEach(lines: readonly string[], log: string): void {
  if (areInOrder(lines, log)) return;
  const loggedLines = log.split('\n');
  for (const each of new Set(lines)) {
    const sentCount = lines.filter((one) => one === each).length;
    const lineCount = loggedLines.filter((one) => one.includes(each)).length;
    expectThat(
      lineCount >= sentCount,
      `${sentCount} times ${describeValue(each)} in the log`,
      `${lineCount} times`,
    );
  }
}

/**
 * Returns true if the log has the lines in order. This is the common case, and the check takes
 * linear time even for thousands of lines.
 */
function areInOrder(lines: readonly string[], log: string): boolean {
  let from = 0;
  return lines.every((line) => {
    const index = log.indexOf(line, from);
    from = index + line.length;
    return index !== -1;
  });
}

function logCase(count: number): JudgingCase<OfferedDeployment> {
  return {
    id: `log-of-${count}-is-kept`,
    title: `A log of ${count} messages is answered with 204, and users read every message.`,
    requirements: ['log.is-kept'],
    run: (arranged, context) =>
      expectLogKept(
        arranged,
        context,
        numbered(count, (number) => `line ${number} of the update`),
      ),
  };
}

const logs = defineScenario<OfferedDeployment>({
  area: 'quantities',
  name: 'Logs',
  start: 'a device that has been offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: activeDeployment,
  cases: [
    ...[1, 5000].map(logCase),
    {
      id: 'repeated-messages-are-kept',
      title: 'Equal messages are all kept.',
      requirements: ['log.is-kept'],
      run: (arranged, context) =>
        expectLogKept(arranged, context, ['begun', 'retrying', 'retrying', 'retrying', 'done']),
    },
  ],
});

const stores = {
  'patch-attributes': 'inventory.patch-adds',
  'put-attributes': 'inventory.put-replaces',
} as const;

function attributesCase(how: WriteOperation, count: number): JudgingCase<SuiteDevice> {
  const attributes = numbered(count, (number) => ({
    name: `attribute-${number}`,
    value: `${number}`,
  }));
  const verb = how === 'put-attributes' ? 'PUT' : 'PATCH';
  return {
    id: `${verb.toLowerCase()}-of-${count}-attributes-is-kept`,
    title: `${verb} of ${count} attributes is answered with 200, and users read every attribute.`,
    requirements: [stores[how]],
    run: async (device, context) => {
      expectStatus(await device.call(how, { body: attributes }), 200);
      const shownAttributes = await context.eventually(
        () => context.admin.attributes(device.id),
        (all) => all.some(({ name }) => name === `attribute-${count}`),
      );
      const ownAttributes = shownAttributes.filter(({ name }) => name.startsWith('attribute-'));
      expectEqual('attributes', ownAttributes.length, count);
      for (const { name, value } of attributes) {
        expectEqual(name, ownAttributes.find((each) => each.name === name)?.value, value);
      }
    },
  };
}

const writes = defineScenario<SuiteDevice>({
  area: 'quantities',
  name: 'Attributes, configuration, alerts and monitors',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    ...(['patch-attributes', 'put-attributes'] as const).flatMap((how) =>
      [1, 31, 90].map((count) => attributesCase(how, count)),
    ),
    {
      id: 'names-of-javascript-are-names',
      title:
        'Attributes may have names that mean something to a server or its programming language.',
      requirements: ['inventory.patch-adds'],
      run: async (device, context) => {
        const names = [
          ...['__proto__', 'constructor', 'toString', 'status', 'group', 'id', 'mac'],
          // Composed and with a combining accent: two names.
          ...['caf\u00e9', 'cafe\u0301', 'plain'],
        ];
        const body = names.map((name) => ({ name, value: `value of ${name}` }));
        expectStatus(await device.call('patch-attributes', { body }), 200);
        const shownAttributes = await context.eventually(
          () => context.admin.attributes(device.id),
          (all) => all.some(({ name }) => name === 'plain'),
        );
        for (const { name, value } of body) {
          expectEqual(
            `value of ${name}`,
            shownAttributes.find((each) => each.name === name)?.value,
            value,
          );
        }
      },
    },
    {
      id: 'ninety-settings-are-kept',
      title: 'A device sets 90 pairs at once and reads every pair.',
      requirements: ['configuration.read-all'],
      run: async (device) => {
        const body = Object.fromEntries(numbered(90, (number) => [`key-${number}`, `${number}`]));
        expectStatus(await device.call('put-configuration', { body }), 204);
        const response = await device.call('get-configuration');
        expectEqual('pairs', expectJson(response), body);
      },
    },
    {
      id: 'fifteen-alerts-are-shown',
      title:
        'Users read each of fifteen alerts that a device sends in one request, and three more.',
      requirements: ['alerts.are-accepted', 'alerts.are-shown'],
      run: async (device, context) => {
        const sentAlerts = numbered(18, (number) => ({ ...alert, name: `alert ${number}` }));
        expectStatus(await sendAlerts(device, ...sentAlerts.slice(0, 15)), 204);
        for (const each of sentAlerts.slice(15)) expectStatus(await sendAlerts(device, each), 204);
        const alerts = await context.eventually(
          () => context.admin.alerts(device.id),
          ({ length }) => length >= sentAlerts.length,
        );
        const names = new Set(alerts.map(({ name }) => name));
        const missingAlerts = sentAlerts.filter(({ name }) => !names.has(name));
        if (missingAlerts.length === 0) return;
        const actual = `${missingAlerts.length} are missing, such as ${missingAlerts[0]?.name}`;
        throw new ExpectationFailure('every alert', actual, ['alerts.are-shown']);
      },
    },
    {
      id: 'repeated-alerts-are-shown',
      title: 'Users read an alert as often as it was raised, and as often as it was over.',
      requirements: ['alerts.are-shown'],
      run: async (device, context) => {
        const levels = ['CRITICAL', 'CRITICAL', 'OK', 'OK', 'CRITICAL'];
        for (const [index, level] of levels.entries()) {
          const timestamp = `2026-01-31T12:00:0${index}Z`;
          const alertResponse = await sendAlerts(device, { ...alert, level, timestamp });
          requireStatus(`an alert of level ${level}`, alertResponse, 204);
        }
        const alerts = await context.eventually(
          () => context.admin.alerts(device.id),
          ({ length }) => length >= levels.length,
        );
        expectEqual('alerts', alerts.map(({ level }) => level).toSorted(), levels.toSorted());
      },
    },
    {
      id: 'fifty-monitors-are-stored',
      title: 'Users read each of fifty monitors that a device sends at once.',
      requirements: ['monitor.is-stored'],
      run: async (device, context) => {
        const entries = numbered(50, (number) => ({ ...service, name: `service ${number}` }));
        expectStatus(await sendConfiguration(device, ...entries), 204);
        const shownEntries = await context.eventually(
          () => context.admin.monitorConfiguration(device.id),
          ({ length }) => length >= entries.length,
        );
        expectEqual('monitors', new Set(shownEntries.map(({ name }) => name)).size, entries.length);
      },
    },
    {
      id: 'names-of-javascript-may-be-provided',
      title: 'Free pairs may have names with a meaning in the programming language of a server.',
      requirements: ['next.free-pairs'],
      run: async (device) => {
        const freePairs = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}');
        const body = { ...factoryProvides, ...freePairs };
        expectStatus(await device.call('post-next-deployment', { body }), ...anySuccess, 404);
      },
    },
  ],
});

const deployments = defineScenario<SuiteDevice>({
  area: 'quantities',
  name: 'Deployments',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'deployments-follow-one-another',
      title: `A device completes ${DEPLOYMENTS} deployments one after another.`,
      requirements: ['next.get-pending-is-200', 'status.becomes-the-state'],
      run: async (device, context) => {
        const artifact = await context.artifact('plain');
        for (const number of numbered(DEPLOYMENTS, (each) => each)) {
          const newDeployment = await context.deploy({
            artifact_name: artifact.name,
            devices: [device.id],
          });
          const response = await device.call('get-next-deployment', { query: factoryProvides });
          expectStatus(response, 200);
          const id = instructedId(response);
          const end = number % 2 === 0 ? 'failure' : 'success';
          await arrangeReports({ device, id }, 'downloading', 'installing', end);
          const deviceDeployment = await context.eventually(
            () => context.admin.deviceDeployment(newDeployment.id, device.id),
            (shownDeployment) => shownDeployment?.status === end,
          );
          expectEqual(`status of deployment ${number}`, deviceDeployment?.status, end);
        }
      },
    },
    {
      id: 'every-device-of-a-large-deployment-is-offered-it',
      title: `The first and the last of the ${DEVICES} devices that a deployment lists are offered it.`,
      requirements: ['next.get-pending-is-200'],
      run: async (firstDevice, context) => {
        const arranged = async (count: number, arrange: typeof acceptedDevice) =>
          await Promise.all(numbered(count, () => arrange(context)));
        const firstOnes = [firstDevice, ...(await arranged(AT_ONCE - 1, acceptedDevice))];
        const ids = firstOnes.map(({ id }) => id);
        // Those in the middle only stand in the list.
        while (ids.length < DEVICES - AT_ONCE) {
          const count = Math.min(AT_ONCE, DEVICES - AT_ONCE - ids.length);
          ids.push(...(await arranged(count, preauthorizedDevice)).map(({ id }) => id));
        }
        const lastOnes = await arranged(AT_ONCE, acceptedDevice);
        ids.push(...lastOnes.map(({ id }) => id));
        const polls = async (devices: readonly SuiteDevice[]) =>
          await Promise.all(
            devices.map((device) => device.call('get-next-deployment', { query: factoryProvides })),
          );
        // What a server knows of devices that had no deployment must not keep a new one from them.
        for (const response of await polls(lastOnes)) requireStatus('a poll', response, 204);
        const artifact = await context.artifact('plain');
        await context.deploy({ artifact_name: artifact.name, devices: ids });
        for (const response of await polls([...firstOnes, ...lastOnes])) {
          expectStatus(response, 200);
        }
      },
    },
  ],
});

/**
 * Spec: DeploymentLog; Device inventory; Device configuration; Device monitor;
 * Device deployments v1, v2
 */
export const quantityCases = [...logs, ...writes, ...deployments];
