/**
 * Cases: each field of each body accepts every kind of valid value, and users read the values as
 * they were sent. The cases are generated from the contract's tables.
 * Spec: Resources and their fields
 */
import { fieldsOf, tables } from '../../../fixtures/contract/resource-tables.ts';
import { alertLevels } from '../../../fixtures/contract/vocabulary.ts';
import { acceptedDevice, activeDeployment, factoryProvides } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  anySuccess,
  describeValue,
  ExpectationFailure,
  NotObservable,
  responseSummary,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';

/** Length in characters that is below the known limits of servers for every field. */
const LONG = 100;

/** Values that are valid in every string field. */
const texts: Readonly<Record<string, string>> = {
  'letters of other scripts': 'æ 日本 🗝',
  'quotes and symbols': `"Two" 'ONE' \\ & <b> % $ {}`,
  'a string that looks like a number': '007',
  'a string that looks like a JSON keyword': 'null',
  'a long string': 'long string '.repeat(LONG / 10).trim(),
  'blanks within': 'a  b',
};

const times: Readonly<Record<string, string>> = {
  'a fraction': '2026-01-31T12:00:00.5Z',
  'nine fractional digits': '2026-01-31T12:00:00.123456789Z',
  'an offset to the east': '2026-01-31T17:30:00+05:30',
  'an offset to the west': '2026-01-31T01:00:00-11:00',
  'the 29th of February': '2024-02-29T23:59:59Z',
};

/** Valid values by the type names of the tables; the vocabulary defines the words. */
const valuesOfTypes: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  text: texts,
  time: times,
  integer: { one: 1, 'a large number': 2_147_483_647 },
  word: Object.fromEntries(alertLevels.map((level) => [level, level])),
};

type Members = Readonly<Record<string, unknown>>;

/** Defines how bodies with one resource are sent, and how users read them back. */
interface ResourceBody {
  readonly operation: string;
  /** The name of the resource in the contract's tables. */
  readonly resource: string;
  readonly covered: (path: string) => boolean;
  readonly send: (device: SendingDevice, resource: unknown) => Promise<HttpResponse>;
  /** Returns the resource changed by a number, so that it differs from the one sent before. */
  readonly stamped?: (resource: Members, number: number) => Members;
  /** Reads the resource as a user, as text that contains its values; empty if users see none. */
  readonly read: (
    device: SendingDevice,
    context: TestContext,
    resource: Members,
  ) => Promise<string>;
}

/** A device that has been offered a deployment. */
interface SendingDevice {
  readonly device: SuiteDevice;
  readonly id: string;
  readonly deploymentId: string;
}

function attributes(operation: 'patch-attributes' | 'put-attributes'): ResourceBody {
  return {
    operation,
    resource: 'Attribute (inventory)',
    covered: () => true,
    send: ({ device }, attribute) => device.call(operation, { body: [attribute] }),
    stamped: (attribute, number) => ({ ...attribute, value: [`value ${number}`] }),
    read: async ({ device }, { admin }, { value: ownValue }) => {
      const all = await admin.attributes(device.id);
      return textOf(all.filter(({ value }) => JSON.stringify(value) === JSON.stringify(ownValue)));
    },
  };
}

/** Length of a date-time without fraction and offset. */
const SECOND_LENGTH = '2026-01-31T12:00:00'.length;
const FIRST_MS = Date.UTC(2026, 0, 31, 12);

function textOf(list: readonly unknown[]): string {
  return list.length === 0 ? '' : JSON.stringify(list);
}

/** Every body whose fields are in a table, except signed requests. */
const bodies: readonly ResourceBody[] = [
  {
    operation: 'put-deployment-status',
    resource: 'DeploymentStatus',
    // Other cases report each of the statuses.
    covered: (path) => path !== 'status',
    // Statuses alternate, since a repeated status may keep its substate; another case tests that.
    stamped: (report, number) => ({
      ...report,
      status: number % 2 === 0 ? 'downloading' : 'installing',
    }),
    send: ({ device, id }, body) => device.call('put-deployment-status', { path: { id }, body }),
    read: async ({ device, deploymentId }, { admin }) =>
      JSON.stringify((await admin.deviceDeployment(deploymentId, device.id)) ?? {}),
  },
  {
    operation: 'put-deployment-log',
    resource: 'DeploymentLog',
    covered: () => true,
    send: ({ device, id }, body) => device.call('put-deployment-log', { path: { id }, body }),
    // Encoded as JSON, like the text to find.
    read: async ({ device, deploymentId }, { admin }) =>
      JSON.stringify((await admin.deploymentLog(deploymentId, device.id)) ?? ''),
  },
  {
    operation: 'post-alerts',
    resource: 'Alert',
    covered: () => true,
    send: ({ device }, body) => device.call('post-alerts', { body: [body] }),
    // Each alert is later than the one before, so that it is on the first page of a list.
    stamped: (alert, number) => ({
      ...alert,
      timestamp: new Date(FIRST_MS + number * 1000).toISOString(),
    }),
    read: async ({ device }, { admin }, { timestamp }) => {
      const timePrefix = String(timestamp).slice(0, SECOND_LENGTH);
      const all = (await admin.alerts(device.id)).map((each) => JSON.stringify(each));
      return all.filter((each) => each.includes(timePrefix)).join();
    },
  },
  {
    operation: 'post-monitor-configuration',
    resource: 'MonitorConfiguration',
    covered: () => true,
    send: ({ device }, body) => device.call('post-monitor-configuration', { body: [body] }),
    read: async ({ device }, { admin }) => textOf(await admin.monitorConfiguration(device.id)),
  },
  attributes('patch-attributes'),
  attributes('put-attributes'),
];

/** Returns the value with the member at a path replaced; `[]` is the first entry of a list. */
function withMember(
  value: unknown,
  [step, ...innerSteps]: readonly string[],
  member: unknown,
): unknown {
  if (step === undefined) return member;
  if (step === '[]')
    return [withMember(Array.isArray(value) ? value[0] : undefined, innerSteps, member)];
  const members: Members = { ...Object(value) };
  return { ...members, [step]: withMember(members[step], innerSteps, member) };
}

interface FieldInput {
  /** The path of the field, and a description of the value. */
  readonly what: string;
  readonly value: unknown;
  readonly type: string;
  readonly resource: Members;
}

/** Returns a valid resource for each kind of valid value of each field. */
function inputsOf({ resource: name, covered }: ResourceBody): readonly FieldInput[] {
  return tables
    .filter((table) => table.name === name)
    .flatMap((table) =>
      fieldsOf(table).flatMap(({ path, type }) => {
        const where = path.join('.').replaceAll('.[]', '[]');
        if (!covered(where)) return [];
        return Object.entries(valuesOfTypes[type] ?? {}).map(([label, value]) => ({
          what: `${where}, ${label}`,
          value,
          type,
          resource: Object(withMember(table.sample, path, value)),
        }));
      }),
    );
}

/** Returns valid resources with an unknown member, one for each object in the resource. */
function extendedOf({ resource: name }: ResourceBody): readonly FieldInput[] {
  return tables
    .filter((table) => table.name === name)
    .flatMap((table) => {
      const objects = fieldsOf(table).filter(({ path, type }) => {
        const hasMembers = fieldsOf(table).some(
          (field) => field.path.join('.') === [...path, '[]'].join('.'),
        );
        return type === 'object' && !hasMembers;
      });
      const entries = fieldsOf(table)
        .map(({ path }) => path.slice(0, path.lastIndexOf('[]') + 1))
        .filter((path) => path.length > 0);
      const locations = new Map(
        [[], ...objects.map(({ path }) => path), ...entries].map(entryOfPath),
      );
      return [...locations.values()].map((location) => ({
        what: `an unknown member in ${location.join('.') || 'the body'}`,
        value: undefined,
        type: 'object',
        resource: Object(withMember(table.sample, [...location, 'x_newer'], { of: ['one'] })),
      }));
    });
}

function entryOfPath(path: readonly string[]): [string, readonly string[]] {
  return [path.join('.'), path];
}

function isAccepted({ status }: HttpResponse): boolean {
  return anySuccess.some((success) => success === status);
}

/**
 * Asserts that a body is accepted. Throws NotObservable if the target also refuses the contract's
 * sample, or if it accepts the body on a second try.
 */
async function expectAccepted(
  sender: SendingDevice,
  body: ResourceBody,
  input: FieldInput,
): Promise<void> {
  const refusal = await body.send(sender, input.resource);
  if (isAccepted(refusal)) return;
  const where = `${body.operation}, ${input.what}: `;
  const sample = tables.find(({ name }) => name === body.resource)?.sample;
  const plain = await body.send(sender, sample);
  // If a repetition succeeds, the value was not the reason for the refusal.
  const isAcceptedNow = isAccepted(await body.send(sender, input.resource));
  if (!isAccepted(plain) || isAcceptedNow) throw new NotObservable(where + responseSummary(plain));
  throw new ExpectationFailure(`${where}a success`, where + responseSummary(refusal));
}

/** Sends each string and asserts that users see it, if they see its resource. */
async function expectKept(
  context: TestContext,
  sender: SendingDevice,
  body: ResourceBody,
): Promise<void> {
  const inputs = inputsOf(body).filter(({ type }) => type === 'text');
  for (const [number, { what, value, resource }] of inputs.entries()) {
    const sentResource = body.stamped?.(resource, number) ?? resource;
    await body.send(sender, sentResource);
    const asJson = JSON.stringify(value).slice(1, -1);
    const readValues = await context.eventually(
      () => body.read(sender, context, sentResource),
      (text) => text.includes(asJson),
    );
    if (readValues.includes(asJson)) continue;
    if (readValues === '')
      throw new NotObservable(`users see nothing of ${body.operation}, ${what}`);
    const where = `${body.operation}, ${what}: `;
    throw new ExpectationFailure(
      `${where}${describeValue(value)}`,
      where + describeValue(readValues),
    );
  }
}

function bodyCases(body: ResourceBody): readonly JudgingCase<SendingDevice>[] {
  return [
    {
      id: `${body.operation}-takes-every-legal-value`,
      title: `Every field of ${body.resource} accepts what the contract allows for it.`,
      requirements: ['service.legal-values'],
      run: async (sender) => {
        for (const input of inputsOf(body)) await expectAccepted(sender, body, input);
      },
    },
    {
      id: `${body.operation}-keeps-every-string`,
      title: `Users see every string of ${body.resource} exactly as ${body.operation} sent it.`,
      requirements: ['service.legal-values-are-kept'],
      run: (sender, context) => expectKept(context, sender, body),
    },
    {
      id: `${body.operation}-takes-unknown-members`,
      title: `Unknown members of ${body.resource}, as newer devices send them, have no effect.`,
      requirements: ['service.unknown-members'],
      run: async (sender) => {
        for (const input of extendedOf(body)) await expectAccepted(sender, body, input);
      },
    },
  ];
}

async function sender(context: TestContext): Promise<SendingDevice> {
  const { device, id, deploymentId } = await activeDeployment(context);
  return { device, id, deploymentId };
}

/** One scenario for each operation, so that it is skipped on a target without the operation. */
const ofTables = bodies.flatMap((body) =>
  defineScenario<SendingDevice>({
    area: 'body-fields',
    name: `Fields of ${body.operation}`,
    start: 'a device that has been offered a deployment',
    effect: 'write',
    needs: ['user', ...partOfBody(body.operation)],
    arrange: sender,
    cases: bodyCases(body),
  }),
);

function partOfBody(operation: string): readonly ('inventory' | 'monitor')[] {
  if (operation.endsWith('attributes')) return ['inventory'];
  return /alerts|monitor/.test(operation) ? ['monitor'] : [];
}

const pollBodies = {
  'post-next-deployment': (provides: object) => provides,
  'post-next-deployment-v2': (provides: object) => ({ device_provides: provides }),
} as const;

/** The cases on the string pairs that a device reports about itself. */
const ofProvides = (['post-next-deployment', 'post-next-deployment-v2'] as const).flatMap(
  (operation) =>
    defineScenario<SuiteDevice>({
      area: 'body-fields',
      name: `Fields of ${operation}`,
      start: 'an accepted device',
      effect: 'write',
      needs: operation.endsWith('v2') ? ['user', 'deployments-v2'] : ['user'],
      arrange: (context) => acceptedDevice(context),
      cases: [
        {
          id: `${operation}-takes-every-legal-value`,
          title: `The pairs of ${operation} accept every string, as values and as names of free pairs.`,
          requirements: ['service.legal-values'],
          run: async (device) => {
            for (const [label, text] of Object.entries(texts)) {
              for (const pair of [
                { artifact_name: text },
                { device_type: text },
                { colour: text },
                { [text]: 'blue' },
              ]) {
                const body = pollBodies[operation]({ ...factoryProvides, ...pair });
                const response = await device.call(operation, { body });
                // The contract leaves open when this request is answered with 404.
                if (isAccepted(response) || response.status === 404) continue;
                const plain = await device.call(operation, {
                  body: pollBodies[operation](factoryProvides),
                });
                if (!isAccepted(plain)) throw new NotObservable(responseSummary(plain));
                const where = `${operation}, ${label} in ${Object.keys(pair)[0]}: `;
                throw new ExpectationFailure(
                  `${where}a success`,
                  where + responseSummary(response),
                );
              }
            }
          },
        },
      ],
    }),
);

/** Spec: Resources and their fields */
export const bodyFieldCases = [...ofTables, ...ofProvides];
