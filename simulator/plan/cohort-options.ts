/** Options of the whole fleet that each cohort may override. */
import * as v from 'valibot';
import { groupRows } from '../../fixtures/base/option-row.ts';
import { keyTypes } from '../../fixtures/contract/vocabulary.ts';
import { kinds, type UngroupedPlanOptions } from './option-row.ts';
import { number, oneOf, share, weight, yesOrNo } from './plan-values.ts';
import { backOff, downloadParts, network, pollSpreads } from './policy.ts';

/** Schema of the weights of the key types; at least one is above 0. */
const keys = v.pipe(
  v.strictObject(v.entriesFromList(keyTypes, v.optional(weight, 0))),
  v.check(
    (weights) => keyTypes.some((keyType) => weights[keyType] > 0),
    `must give at least one of ${keyTypes.join(', ')} a weight above 0`,
  ),
);

/** Schema of the weights of behaviours, by name; at least one is above 0. */
const behaviours = v.pipe(
  v.record(v.string(), weight, 'must be an object of names and weights'),
  v.check(
    (weights) => Object.values(weights).some((each) => each > 0),
    'must give at least one behaviour a weight above 0',
  ),
  v.transform((weights) => Object.entries(weights).map(([name, each]) => ({ name, weight: each }))),
);

/** Schema of overridden behaviour parameters, by behaviour and parameter. */
const parameters = v.record(
  v.string(),
  v.record(
    v.string(),
    v.number('must be a number'),
    'must be an object of parameters and their numbers',
  ),
  'must be an object of behaviours and their parameters',
);

/** Options for the mix of keys and behaviours among the devices. */
export const mixtureOptions = groupRows('Fleet', {
  keys: {
    flag: '--keys <shares>',
    help: 'key types (default: rsa=1,ecdsa=1,ed25519=1)',
    cli: { kind: 'weights', names: keyTypes },
    value: keys,
    field: 'keys',
    absent: { rsa: 1, ecdsa: 1, ed25519: 1 },
    result: v.object({ rsa: number, ecdsa: number, ed25519: number }),
  },
  behaviour: {
    flag: '--behaviour <name=weight>',
    help: "behaviours of the devices, listed by 'simulate behaviours'; repeatable (default: steady=1)",
    cli: { kind: 'weights' },
    value: behaviours,
    field: 'behaviours',
    absent: { steady: 1 },
    result: v.array(v.object({ name: v.string(), weight: number })),
  },
  behaviourParameter: {
    flag: '--behaviour-parameter <name.number=value>',
    help: 'parameter of a behaviour, such as slow.installMs=5000; repeatable',
    cli: { kind: 'parameters' },
    value: parameters,
    field: 'behaviourParameters',
    result: v.exactOptional(v.record(v.string(), v.record(v.string(), v.number()))),
  },
} as const satisfies UngroupedPlanOptions);

/** Options for how the devices interact with the server. */
export const policyOptions = groupRows('Devices', {
  poll: {
    flag: '--poll <duration>',
    help: 'time between two polls for an update',
    ...kinds.duration(10),
    default: { value: '5s', text: '5s' },
    field: 'pollIntervalMs',
    result: number,
  },
  /** Largest random delay of a poll, as a share of the interval. */
  pollJitter: {
    flag: '--poll-jitter <share>',
    help: 'random delay of a poll, as a share of the interval',
    cli: { kind: 'share' },
    value: share,
    field: 'pollJitterShare',
    absent: 0,
    result: number,
  },
  /**
   * How the polls of the devices are distributed over the interval. `even`: as far apart as
   * possible; `random`: by the seed; `lockstep`: all at the same time.
   */
  pollSpread: {
    flag: '--poll-spread <spread>',
    help: 'spread of polls over the interval',
    cli: { kind: 'choices', values: pollSpreads },
    value: oneOf(pollSpreads),
    field: 'pollSpread',
    absent: 'even',
    result: v.string(),
  },
  inventory: {
    flag: '--inventory <duration>',
    help: 'time between two inventory updates',
    ...kinds.duration(10),
    default: { value: '1m', text: '1m' },
    field: 'inventoryIntervalMs',
    result: number,
  },
  connect: {
    flag: '--connect',
    help: 'open a WebSocket for every device',
    cli: { kind: 'switch', off: 'open no WebSockets, whatever the plan file says' },
    value: yesOrNo,
    field: 'connect',
    absent: false,
    result: v.boolean(),
  },
  /**
   * How much of an artifact a device downloads. `full`: the whole file; `head`: its first bytes;
   * `none`: nothing.
   */
  download: {
    flag: '--download <part>',
    help: 'part of an artifact to download',
    cli: { kind: 'choices', values: downloadParts },
    value: oneOf(downloadParts),
    field: 'download',
    absent: 'full',
    result: v.string(),
  },
  backOff: {
    flag: '--back-off <pairs>',
    help: "wait between retries after errors: 'kind: full-jitter, min: 1s, max: 1m'",
    cli: { kind: 'pairs', isList: false },
    value: backOff,
    field: 'backOff',
    result: v.object({
      kind: v.string(),
      minMs: number,
      maxMs: number,
      obeysRetryAfter: v.boolean(),
    }),
  },
  /** The network that this process simulates; when absent, traffic uses the real network only. */
  network: {
    flag: '--network <pairs>',
    help: "network quality: 'latency: 300ms, loss: 0.02, bytesPerSecond: 3000'",
    cli: { kind: 'pairs', isList: false },
    value: network,
    field: 'network',
    result: v.exactOptional(
      v.object({ latencyMs: number, jitterMs: number, lossShare: number, bytesPerSecond: number }),
    ),
  },
} as const satisfies UngroupedPlanOptions);

/** Every option that a cohort may override. */
export const cohortOptions = { ...mixtureOptions, ...policyOptions };
