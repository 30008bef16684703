/**
 * Cases: a server may refuse a long string, since the contract states no limit, but it may not cut
 * one that it accepts. Spec: Device configuration; Device inventory; Device monitor; DeploymentLog
 */
import { parsedJson } from '../../../fixtures/base/json.ts';
import {
  acceptedDevice,
  activeDeployment,
  type OfferedDeployment,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import { ExpectationFailure, responseSummary } from '../../target/expectations.ts';
import { membersOf } from '../../target/json-members.ts';
import type { HttpResponse } from '../../target/response.ts';
import { alert, sendAlerts, sendConfiguration, service } from '../monitor/monitor-samples.ts';

/** One more than the lengths to which columns of databases and buffers of programs are set. */
const lengths = [129, 257, 1025, 4097] as const;

/** Returns a string of that length whose end differs from its beginning. */
function longText(length: number): string {
  const end = `-${length}`;
  return 'x'.repeat(length - end.length) + end;
}

/** Writes the string into the fields of one request, and returns what the fields have become. */
type WriteAndRead<Start> = (
  start: Start,
  context: TestContext,
  text: string,
) => Promise<{
  readonly written: HttpResponse;
  readonly read: () => Promise<Readonly<Record<string, unknown>>>;
}>;

/** Returns a case: each field of the request has the string, whole, unless it was refused. */
function keptWhole<Start>(
  id: string,
  what: string,
  writeAndRead: WriteAndRead<Start>,
): JudgingCase<Start> {
  return {
    id,
    title: `Long strings in ${what} are read as a whole, unless the request was refused.`,
    requirements: ['service.legal-values-are-kept'],
    run: async (start, context) => {
      for (const length of lengths) {
        const text = longText(length);
        const { written, read } = await writeAndRead(start, context, text);
        if (written.status >= 400 && written.status < 500) return;
        const isKept = (values: Readonly<Record<string, unknown>>) =>
          Object.values(values).every((value) => value === text);
        const values = await context.eventually(read, isKept);
        const cut = Object.entries(values).find(([, value]) => value !== text);
        if (cut === undefined) continue;
        const expectation = `${length} characters in ${cut[0]} after ${responseSummary(written)}`;
        const actual = typeof cut[1] === 'string' ? `${cut[1].length} characters` : 'none';
        throw new ExpectationFailure(expectation, actual);
      }
    },
  };
}

const onDevice = defineScenario<SuiteDevice>({
  area: 'quantities',
  name: 'Long strings of a device',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    {
      ...keptWhole<SuiteDevice>(
        'long-attributes-are-whole',
        'attributes',
        async (device, context, text) => {
          const body = [
            { name: 'probe', value: text, description: text },
            { name: text, value: 1 },
          ];
          return {
            written: await device.call('put-attributes', { body }),
            read: async () => {
              const all = await context.admin.attributes(device.id);
              const probe = all.find((each) => each.name === 'probe');
              const { value, description } = membersOf(probe);
              const name = all.find((each) => each.name.startsWith('xxx'))?.name;
              return { value, description, name };
            },
          };
        },
      ),
      needs: ['inventory'],
    },
    {
      ...keptWhole<SuiteDevice>(
        'long-settings-are-whole',
        'a configuration',
        async (device, _, text) => ({
          written: await device.call('put-configuration', { body: { probe: text, [text]: 'one' } }),
          read: async () => {
            const { text: read } = await device.call('get-configuration');
            const pairs = membersOf(parsedJson(read));
            return { value: pairs.probe, key: Object.keys(pairs).find((key) => key === text) };
          },
        }),
      ),
      needs: ['configuration', 'configuration-read-back'],
    },
    {
      ...keptWhole<SuiteDevice>(
        'long-alerts-are-whole',
        'an alert',
        async (device, context, text) => {
          const details = { description: text, line_matching: { line_number: 1, data: text } };
          const subject = { name: text, type: text, status: text, details };
          return {
            written: await sendAlerts(device, { ...alert, name: text, subject }),
            read: async () => {
              const alerts = await context.admin.alerts(device.id);
              const shownAlert = alerts.find((each) => membersOf(each.subject).name === text);
              const { name, type, status, details: shownDetails } = membersOf(shownAlert?.subject);
              const { description, line_matching: line } = membersOf(shownDetails);
              const { data } = membersOf(line);
              return { alert: shownAlert?.name, name, type, status, description, data };
            },
          };
        },
      ),
      needs: ['monitor'],
    },
    {
      ...keptWhole<SuiteDevice>(
        'long-monitors-are-whole',
        'a monitor configuration',
        async (device, context, text) => ({
          written: await sendConfiguration(device, {
            ...service,
            name: text,
            type: text,
            status: text,
          }),
          read: async () => {
            const [shownMonitor] = await context.admin.monitorConfiguration(device.id);
            return {
              name: shownMonitor?.name,
              type: shownMonitor?.type,
              status: shownMonitor?.status,
            };
          },
        }),
      ),
      needs: ['monitor'],
    },
  ],
});

const inUpdate = defineScenario<OfferedDeployment>({
  area: 'quantities',
  name: 'Long strings of an update',
  start: 'a device that has been offered a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: activeDeployment,
  cases: [
    keptWhole<OfferedDeployment>(
      'long-substates-are-whole',
      'a substate',
      async (arranged, context, substate) => {
        const { device, id, deploymentId } = arranged;
        const body = { status: 'installing', substate };
        return {
          written: await device.call('put-deployment-status', { path: { id }, body }),
          read: async () => {
            const shownDeployment = await context.admin.deviceDeployment(deploymentId, device.id);
            return { substate: shownDeployment?.substate };
          },
        };
      },
    ),
    keptWhole<OfferedDeployment>(
      'long-messages-are-whole',
      'a log',
      async (arranged, context, message) => {
        const { device, id, deploymentId } = arranged;
        const messages = [{ timestamp: '2026-01-31T12:00:00Z', level: 'info', message }];
        return {
          written: await device.call('put-deployment-log', { path: { id }, body: { messages } }),
          read: async () => {
            const log = (await context.admin.deploymentLog(deploymentId, device.id)) ?? '';
            return { message: log.match(/(?<!x)x+-\d+/)?.[0] };
          },
        };
      },
    ),
  ],
});

/** Spec: Device configuration; Device inventory; Device monitor; DeploymentLog; DeploymentStatus */
export const longTextCases = [...onDevice, ...inUpdate];
