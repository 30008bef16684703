/**
 * Cases: requests that write at the same time have the effect of some order of them: nothing is
 * lost, mixed or given to another device. Spec: What the service does
 */
import { readPairs } from '../../context/configuration-pairs.ts';
import { acceptedDevice } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { type Capability, defineScenario, type JudgingCase } from '../../suite/case.ts';
import { expectEqual, expectThat, sorted } from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';
import { writeAttributes } from '../inventory/inventory-writing.ts';
import { alert, sendAlerts, sendConfiguration, service } from '../monitor/monitor-samples.ts';
import { devicesAtOnceCases, sendAtOnce } from './devices-at-once.ts';

/** Rounds of concurrent requests; the order in which they are sent alternates. */
const ROUNDS = 6;

/**
 * The requests that are sent at once in one round, and each state that some order of them leaves.
 */
interface Round {
  readonly send: readonly (() => Promise<HttpResponse>)[];
  readonly allowed: readonly unknown[];
}

/** A resource of a device to which several requests write at once. */
interface Race {
  readonly id: string;
  readonly title: string;
  readonly needs: readonly Capability[];
  /** Prepares the resource; returns the requests and states of each round. */
  readonly prepare: (device: SuiteDevice) => Promise<(round: number) => Round>;
  readonly read: (device: SuiteDevice, context: TestContext) => Promise<unknown>;
}

async function attributesOf({ id }: SuiteDevice, { admin }: TestContext): Promise<unknown> {
  const attributes = await admin.attributes(id);
  return sorted(attributes.map(({ name, value }) => [name, value]));
}

async function pairsOf(device: SuiteDevice): Promise<unknown> {
  return sorted(Object.entries(await readPairs(device)));
}

async function monitorsOf({ id }: SuiteDevice, { admin }: TestContext): Promise<unknown> {
  return sorted((await admin.monitorConfiguration(id)).map(({ name, status }) => [name, status]));
}

type Values = Readonly<Record<string, string>>;

function pairs(values: Values): unknown {
  return sorted(Object.entries(values));
}

function writeOfPairs(device: SuiteDevice, values: Values): () => Promise<HttpResponse> {
  return () => device.call('put-configuration', { body: values });
}

function writeOfAttributes(
  device: SuiteDevice,
  how: 'patch-attributes' | 'put-attributes',
  values: Values,
): () => Promise<HttpResponse> {
  const attributes = Object.entries(values).map(([name, value]) => ({ name, value }));
  return () => writeAttributes(device, how, ...attributes);
}

function writeOfMonitors(device: SuiteDevice, values: Values): () => Promise<HttpResponse> {
  const monitors = Object.entries(values).map(([name, status]) => ({ ...service, name, status }));
  return () => sendConfiguration(device, ...monitors);
}

/** Two sets of values that share a name, and have one of their own. */
function twoSets(round: number): readonly [Values, Values] {
  const [one, other] = [`one ${round}`, `other ${round}`];
  return [
    { shared: one, both: one, mine: one },
    { shared: other, both: other, theirs: other },
  ];
}

const races: readonly Race[] = [
  {
    id: 'settings-of-different-keys',
    title: 'Writes of different keys at the same time, and a removal, all take effect.',
    needs: ['configuration', 'configuration-read-back'],
    prepare: async (device) => {
      await writeOfPairs(device, { one: 'before' })();
      await writeOfPairs(device, { two: 'before', three: 'before' })();
      const hasKept = 'one' in (await readPairs(device));
      return (round) => {
        const [one, two] = [{ one: `${round}` }, { two: `${round}` }];
        const isRemoval = round % 2 === 0;
        const bodies = [one, two, { three: isRemoval ? '' : 'again' }];
        const third: Values = isRemoval ? {} : { three: 'again' };
        const merged = pairs({ ...one, ...two, ...third });
        return {
          send: bodies.map((values) => writeOfPairs(device, values)),
          // A server that replaces the whole store keeps the pairs of one request.
          allowed: hasKept ? [merged] : [one, two, third].map(pairs),
        };
      };
    },
    read: pairsOf,
  },
  {
    id: 'settings-of-the-same-keys',
    title: 'Of two writes of the same keys at the same time, one takes effect for all keys.',
    needs: ['configuration', 'configuration-read-back'],
    prepare: async (device) => (round) => {
      const bodies = ['one', 'other'].map((name) => ({
        a: `${name} ${round}`,
        b: `${name} ${round}`,
        c: `${name} ${round}`,
      }));
      return {
        send: bodies.map((values) => writeOfPairs(device, values)),
        allowed: bodies.map(pairs),
      };
    },
    read: pairsOf,
  },
  {
    id: 'puts-of-attributes',
    title: 'Of two sets of attributes by PUT at the same time, exactly one is kept.',
    needs: ['inventory'],
    prepare: async (device) => (round) => {
      const bodies = twoSets(round);
      return {
        send: bodies.map((values) => writeOfAttributes(device, 'put-attributes', values)),
        allowed: bodies.map(pairs),
      };
    },
    read: attributesOf,
  },
  {
    id: 'patches-of-the-same-attributes',
    title: 'Of two PATCH of the same attributes at the same time, one takes effect for all.',
    needs: ['inventory'],
    prepare: async (device) => (round) => {
      const [one, other] = twoSets(round);
      const send = [one, other].map((values) =>
        writeOfAttributes(device, 'patch-attributes', values),
      );
      return { send, allowed: [pairs({ ...one, ...other }), pairs({ ...other, ...one })] };
    },
    read: attributesOf,
  },
  {
    id: 'patch-beside-put-of-attributes',
    title: 'PUT and PATCH of attributes at the same time have the effect of one of their orders.',
    needs: ['inventory'],
    prepare: async (device) => (round) => {
      const [put, patch] = twoSets(round);
      return {
        send: [
          writeOfAttributes(device, 'put-attributes', put),
          writeOfAttributes(device, 'patch-attributes', patch),
        ],
        allowed: [pairs(put), pairs({ ...put, ...patch })],
      };
    },
    read: attributesOf,
  },
  {
    id: 'monitor-configurations',
    title: 'Of two monitor configurations at the same time, exactly one is kept.',
    needs: ['monitor'],
    prepare: async (device) => (round) => {
      const bodies = twoSets(round);
      return {
        send: bodies.map((values) => writeOfMonitors(device, values)),
        allowed: bodies.map(pairs),
      };
    },
    read: monitorsOf,
  },
];

/** Returns a case that runs the rounds, and compares the settled state of each. */
function raceCase({ id, title, needs, prepare, read }: Race): JudgingCase<SuiteDevice> {
  return {
    id: `${id}-at-once`,
    title,
    requirements: ['service.concurrent-writes'],
    needs,
    run: async (device, context) => {
      const roundOf = await prepare(device);
      for (let round = 0; round < ROUNDS; round += 1) {
        const { send, allowed } = roundOf(round);
        await sendAtOnce(send, round);
        const states = allowed.map((state) => JSON.stringify(state));
        const shownValues = await context.eventually(
          async () => JSON.stringify(await read(device, context)),
          (state) => states.includes(state),
        );
        expectThat(states.includes(shownValues), states.join(' or '), shownValues);
      }
    },
  };
}

const ofOneResource = defineScenario<SuiteDevice>({
  area: 'races',
  name: 'Writes to one resource at once',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    ...races.map(raceCase),
    {
      id: 'alerts-at-once-are-all-shown',
      title: 'Users see every alert of several requests at the same time.',
      requirements: ['service.concurrent-writes'],
      needs: ['monitor'],
      run: async (device, context) => {
        const names = ['first', 'second', 'third', 'fourth'];
        const send = names.map((name) => () => sendAlerts(device, { ...alert, name }));
        await sendAtOnce(send, 0);
        const shownValues = await context.eventually(
          () => context.admin.alerts(device.id),
          ({ length }) => length >= names.length,
        );
        expectEqual('alerts', shownValues.map(({ name }) => name).sort(), [...names].sort());
      },
    },
  ],
});

/** Spec: What the service does */
export const writesAtOnceCases = [...ofOneResource, ...devicesAtOnceCases];
