/**
 * The configuration that a device reads, where it reads what it wrote: its own pairs and those that
 * a user has set for it. Spec: Device configuration
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { describeValue } from '../../target/expectations.ts';
import { isMap, type Members } from '../../target/json-members.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import type { Allows } from './allowances.ts';
import {
  EFFECT_DELAY_MAX_MS,
  type Effect,
  isPlainJson,
  isWellFormed,
  namesIn,
  type Resource,
} from './resource.ts';
import type { TrackedViolation } from './tracker.ts';

/** The values that a key may have, null if it may be absent, and the requirement that says so. */
interface Key {
  readonly values: readonly (string | null)[];
  readonly reason: RequirementId;
}

interface Configuration {
  /** Whether the server keeps the keys that a request does not name: its own choice. */
  readonly keepsOthers: boolean;
  /** An absent name stands for a key that is absent. */
  readonly keys: Readonly<Record<string, Key | 'any'>>;
}

/** The configuration store of a device that reads what it wrote. */
export const configurationResource: Resource<Configuration> = {
  name: 'configuration',
  initial: (allows) => [
    ...(allows('configuration.keeps-other-keys') ? [{ keepsOthers: true, keys: {} }] : []),
    ...(allows('configuration.drops-other-keys') ? [{ keepsOthers: false, keys: {} }] : []),
  ],
  parts: {
    names: ({ keys }) => Object.keys(keys),
    only: ({ keepsOthers, keys }, name) => ({
      keepsOthers,
      keys: Object.fromEntries(Object.entries(keys).filter(([each]) => each === name)),
    }),
  },
  writes: {
    'put-configuration': (exchange, devices) => [
      {
        device: devices.ofToken(exchange),
        ...effectOf(exchange, devices.allows),
        effectDelayMaxMs: 0,
      },
    ],
    'set-configuration': (exchange, devices) => [
      {
        device: devices.ofId(exchange.segment()),
        ...effectOf(exchange, devices.allows),
        effectDelayMaxMs: EFFECT_DELAY_MAX_MS,
      },
    ],
  },
  reads: {
    'get-configuration': (exchange, devices) => [
      {
        device: devices.ofToken(exchange),
        differenceFrom: ({ keys }, possibleStates) => differenceIn(exchange, keys, possibleStates),
      },
    ],
  },
};

function effectOf(
  exchange: JudgedExchange,
  allows: Allows,
): Pick<Effect<Configuration>, 'nextStates'> {
  const { requestJson, operation } = exchange;
  if (!isMap(requestJson) || !isPlainJson(exchange)) return { nextStates: () => [undefined] };
  const isUserWrite = operation.id === 'set-configuration';
  return {
    nextStates: (earlierState) =>
      earlierState === undefined
        ? [undefined]
        : [stateAfter(earlierState, requestJson, { isOfUser: isUserWrite, allows })],
  };
}

/** Who writes, and what is left to the server. */
interface Writer {
  readonly isOfUser: boolean;
  readonly allows: Allows;
}

function stateAfter(earlierState: Configuration, pairs: Members, writer: Writer): Configuration {
  const { keepsOthers, keys } = earlierState;
  const otherKeys = Object.entries(keys).map(([name, key]): [string, Key | 'any'] => [
    name,
    keptKey(key, keepsOthers, writer),
  ]);
  const namedKeys = Object.entries(pairs).map(([name, value]): [string, Key | 'any'] => {
    const earlierKey = Object.hasOwn(keys, name) ? keys[name] : undefined;
    return [
      name,
      isTracked(name, value) ? keyAfter(earlierKey, String(value), writer.isOfUser) : 'any',
    ];
  });
  return { keepsOthers, keys: Object.fromEntries([...otherKeys, ...namedKeys]) };
}

/** Returns a key that a request did not name; what the management API keeps is left open. */
function keptKey(
  key: Key | 'any',
  keepsOthers: boolean,
  { isOfUser, allows }: Writer,
): Key | 'any' {
  if (key === 'any') return key;
  const values = keepsOthers || isOfUser ? key.values : [];
  const mayBeAbsent = isOfUser ? allows('configuration.users-may-replace') : !keepsOthers;
  return { ...key, values: [...new Set([...values, ...(mayBeAbsent ? [null] : [])])] };
}

function keyAfter(earlierKey: Key | 'any' | undefined, value: string, isOfUser: boolean): Key {
  if (value === '') {
    return { values: isOfUser ? ['', null] : [null], reason: 'configuration.empty-removes' };
  }
  if (isOfUser) return { values: [value], reason: 'configuration.set-by-user' };
  const isSet =
    earlierKey !== undefined && earlierKey !== 'any' && !earlierKey.values.includes(null);
  const reason = isSet ? 'configuration.update' : 'configuration.written-is-read';
  return { values: [value], reason };
}

/** Returns true if every server keeps such a pair as it is; the contract leaves others open. */
function isTracked(name: string, value: unknown): boolean {
  return typeof value === 'string' && name !== '' && isWellFormed(name + value);
}

const neverWritten: Key = { values: [null], reason: 'configuration.own-store' };

function differenceIn(
  { responseJson }: JudgedExchange,
  keys: Configuration['keys'],
  possibleStates: readonly Configuration[],
): TrackedViolation | undefined {
  if (!isMap(responseJson)) return undefined;
  for (const name of namesIn(possibleStates.map((each) => each.keys))) {
    const expected = (Object.hasOwn(keys, name) && keys[name]) || neverWritten;
    if (expected === 'any') continue;
    const { values, reason } = expected;
    const actualValue = Object.hasOwn(responseJson, name) ? responseJson[name] : null;
    if (values.some((value) => value === actualValue)) continue;
    const allowedTexts = values.map((value) => (value === null ? 'absent' : describeValue(value)));
    return {
      part: `200 body: /${name}`,
      expected: `be ${allowedTexts.join(' or ')}, by what was written`,
      actual: actualValue === null ? 'absent' : describeValue(actualValue),
      requirement: reason,
      operation: 'put-configuration',
    };
  }
  return undefined;
}
