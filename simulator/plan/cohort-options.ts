/** Options that apply to the whole fleet and that a cohort may override. */

import * as v from 'valibot';
import { keyTypes } from '../../fixtures/contract/vocabulary.ts';
import { inGroup } from '../../fixtures/option-row.ts';
import { kinds, type UngroupedRows } from './option-row.ts';
import { milliseconds, number, oneOf, share, weight, yesOrNo } from './plan-values.ts';
import { backOffFields, downloads, linkFields, phases } from './policy.ts';
import { backOffOfWords, backOffWords, linkOfWords, linkWords } from './word-values.ts';

const keyNames = keyTypes.join(', ');
/** Weights of the key types. */
const keysShape = v.pipe(
  v.strictObject(
    { rsa: weight, ecdsa: weight, ed25519: weight },
    `must be an object of weights for ${keyNames}`,
  ),
  v.check(
    (keys) => keyTypes.some((keyType) => keys[keyType] > 0),
    `must give at least one of ${keyNames} a weight above 0`,
  ),
);

const behaviourShape = v.strictObject({
  name: v.string('must be a name'),
  weight,
});

/** Behaviours with their weights. */
const behavioursShape = v.pipe(
  v.array(behaviourShape, 'must be an object of names and weights'),
  v.check(
    (rows) => rows.some((row) => row.weight > 0),
    'must give at least one behaviour a weight above 0',
  ),
  v.check(
    (rows) => new Set(rows.map(({ name }) => name)).size === rows.length,
    'must name each behaviour once',
  ),
);

/** Overrides of behaviour parameters, by behaviour and name. */
const parametersShape = v.record(
  v.string(),
  v.record(
    v.string(),
    v.number('must be a number'),
    'must be an object of parameters and their numbers',
  ),
  'must be an object of behaviours and their parameters',
);

type Shares = Readonly<Record<string, number>>;

/** The mix of keys and behaviours among the devices. */
export const mixtureOptions = inGroup('Fleet', {
  keys: {
    flag: '--keys <shares>',
    help: 'key types (default: rsa=1,ecdsa=1,ed25519=1)',
    cli: { kind: 'weights', names: keyTypes },
    word: v.optional(v.strictObject(v.entriesFromList(keyTypes, v.optional(weight, 0)))),
    field: 'keys',
    plan: keysShape,
    toPlan: (keys: Shares) => ({ rsa: 0, ecdsa: 0, ed25519: 0, ...keys }),
    absent: { rsa: 1, ecdsa: 1, ed25519: 1 },
    result: v.object({ rsa: number, ecdsa: number, ed25519: number }),
  },
  behaviour: {
    flag: '--behaviour <name=weight>',
    help: "behaviours of the devices, listed by 'simulate behaviours'; repeatable (default: steady=1)",
    cli: { kind: 'weights' },
    word: v.optional(v.record(v.string(), weight, 'must be an object of names and weights')),
    field: 'behaviours',
    plan: behavioursShape,
    toPlan: (shares: Shares) =>
      Object.entries(shares).map(([name, each]) => ({ name, weight: each })),
    absent: [{ name: 'steady', weight: 1 }],
    result: v.array(v.object({ name: v.string(), weight: number })),
  },
  behaviourParameter: {
    flag: '--behaviour-parameter <name.number=value>',
    help: 'parameter of a behaviour, such as slow.installMs=5000; repeatable',
    cli: { kind: 'parameters' },
    word: v.optional(
      v.record(
        v.string(),
        v.record(v.string(), v.number()),
        'must be an object of behaviours and their parameters',
      ),
    ),
    field: 'behaviourParameters',
    plan: v.optional(parametersShape),
    result: v.exactOptional(v.record(v.string(), v.record(v.string(), v.number()))),
  },
} as const satisfies UngroupedRows);

/** How the devices interact with the server. */
export const policyOptions = inGroup('Devices', {
  poll: {
    flag: '--poll <duration>',
    help: 'time between two polls for an update',
    ...kinds.duration(10),
    usual: { value: 5000, shown: '5s' },
    field: 'pollIntervalMs',
    plan: milliseconds(10),
    result: number,
  },
  /** Each poll is late by up to this share of the interval, at random. */
  pollJitter: {
    flag: '--poll-jitter <share>',
    help: 'random delay of a poll, as a share of the interval',
    cli: { kind: 'share' },
    word: v.optional(share),
    field: 'pollJitterShare',
    plan: v.optional(share),
    fallback: 0,
    result: number,
  },
  /**
   * Where in the interval devices poll: `even`, spread as far apart as possible; `random`, by the
   * seed; `lockstep`, all at the same time.
   */
  phase: {
    flag: '--phase <phase>',
    help: 'spread of polls over the interval',
    cli: { kind: 'choices', of: phases },
    word: v.optional(oneOf(phases)),
    field: 'phase',
    plan: v.optional(oneOf(phases)),
    fallback: 'even',
    result: v.string(),
  },
  inventory: {
    flag: '--inventory <duration>',
    help: 'time between two inventory updates',
    ...kinds.duration(10),
    usual: { value: 60_000, shown: '1m' },
    field: 'inventoryIntervalMs',
    plan: milliseconds(10),
    result: number,
  },
  connect: {
    flag: '--connect',
    help: 'open a websocket for every device',
    cli: { kind: 'switch', off: 'open no websockets, whatever the plan file says' },
    word: v.optional(yesOrNo),
    field: 'connect',
    plan: yesOrNo,
    absent: false,
    result: v.boolean(),
  },
  /** How much of an artifact is downloaded: all of it, its headers only, or nothing. */
  download: {
    flag: '--download <part>',
    help: 'part of an artifact to download',
    cli: { kind: 'choices', of: downloads },
    word: v.optional(oneOf(downloads)),
    field: 'download',
    plan: v.optional(oneOf(downloads)),
    fallback: 'full',
    result: v.string(),
  },
  backOff: {
    flag: '--back-off <words>',
    help: "wait after errors: 'kind: full-jitter, least: 1s, most: 1m'",
    cli: { kind: 'words', isList: false },
    word: v.optional(backOffWords),
    field: 'backOff',
    plan: v.optional(backOffFields),
    toPlan: backOffOfWords,
    result: v.object({
      kind: v.string(),
      leastMs: number,
      mostMs: number,
      obeysRetryAfter: v.boolean(),
    }),
  },
  /** The network simulated in this process; when absent, the real one is used unchanged. */
  link: {
    flag: '--link <words>',
    help: "network quality: 'latency: 300ms, loss: 0.02, bytesPerSecond: 3000'",
    cli: { kind: 'words', isList: false },
    word: v.optional(linkWords),
    field: 'link',
    plan: v.optional(linkFields),
    toPlan: linkOfWords,
    result: v.exactOptional(
      v.object({ latencyMs: number, jitterMs: number, lossShare: number, bytesPerSecond: number }),
    ),
  },
} as const satisfies UngroupedRows);

/** All of them. */
export const cohortOptions = { ...mixtureOptions, ...policyOptions };
