/**
 * Every option of a plan, in the order of the help text. The options that a cohort may override are
 * in `cohort-options.ts`.
 */
import * as v from 'valibot';
import { groupRows } from '../../fixtures/base/option-row.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import { cohorts } from './cohort.ts';
import { mixtureOptions, policyOptions } from './cohort-options.ts';
import { connectionOptions } from './connection-options.ts';
import { deploymentPhases } from './deployment-phases.ts';
import { ARRIVALS_PER_SECOND_MAX, arrivals, incidents, stages } from './load-fields.ts';
import { kinds, type UngroupedPlanOptions } from './option-row.ts';
import { checkShare, count, nonEmptyText, number, rate, wholeNumber } from './plan-values.ts';
import { thresholdsShape } from './thresholds-parser.ts';

/** Default device type of a fleet. */
const defaultDeviceType = 'fleetbed-board';

/** Maximum number of RSA keys; generating that many takes minutes. */
const RSA_POOL_MAX = 4096;
const rsaKeyBits = [2048, 3072] as const;

const fleetOptions = groupRows('Fleet', {
  /**
   * The last three bytes of a MAC address number the devices, but memory limits a fleet to fewer.
   */
  devices: {
    flag: '--devices <count>',
    help: 'number of devices',
    ...kinds.count(1, 1_000_000),
    default: { value: 10 },
    field: 'devices',
    result: v.pipe(count, v.description('Devices of the whole fleet, in all shards together.')),
  },
  /**
   * Any text. The same text produces the same fleet. A result contains the seed outside its plan.
   */
  seed: {
    flag: '--seed <text>',
    help: 'seed of the fleet; RSA keys differ in each run (default: random)',
    cli: { kind: 'text' },
    value: v.pipe(v.union([v.string(), v.number()]), v.transform(String), nonEmptyText),
    field: 'seed',
  },
  ...mixtureOptions,
  /**
   * Paths relative to the working directory of the command. The files are read before the plan is
   * checked.
   */
  behaviourFile: {
    flag: '--behaviour-file <file>',
    help: 'JavaScript file with more behaviours; repeatable',
    cli: { kind: 'texts' },
    value: v.array(nonEmptyText),
    field: 'behaviourFiles',
    owner: 'worker',
    lack: 'behaviour file',
  },
  cohort: {
    flag: '--cohort <pairs>',
    help: "part of the fleet with its own settings: 'night, weight: 2, poll: 1m'; repeatable",
    cli: { kind: 'pairs', isList: true },
    value: cohorts,
    field: 'cohorts',
  },
  deploy: {
    flag: '--deploy <artifact>',
    help: 'deploy this artifact to the fleet',
    ...kinds.text(limits.provideMaxCharacters),
    field: 'deploy',
  },
  deploymentName: {
    flag: '--deployment-name <text>',
    help: 'name of the deployment',
    ...kinds.text(limits.deploymentNameMaxCharacters),
    field: 'deploymentName',
  },
  deploymentPhase: {
    flag: '--deployment-phase <pairs>',
    help: "phase of the deployment: 'batch: 10' (percent), 'batch: 30, after: 1d', 'after: 3d'; repeatable",
    cli: { kind: 'pairs', isList: true },
    value: deploymentPhases,
    field: 'deploymentPhases',
    result: v.exactOptional(
      v.array(
        v.object({ batchPercent: v.exactOptional(number), afterMs: v.exactOptional(number) }),
      ),
    ),
  },
} as const satisfies UngroupedPlanOptions);

const loadOptions = groupRows('Load', {
  /** The first contacts of the devices are distributed evenly over this time. */
  ramp: {
    flag: '--ramp <duration>',
    help: 'time over which the devices make first contact',
    ...kinds.duration(0),
    default: { value: '1s', text: '1s' },
    field: 'rampMs',
    result: number,
  },
  stage: {
    flag: '--stage <pairs>',
    help: "stage of the run: 'ramp: 30s, devices: 100', 'hold: 2m'; repeatable",
    cli: { kind: 'pairs', isList: true },
    value: stages,
    field: 'stages',
    result: v.exactOptional(
      v.array(v.object({ kind: v.string(), durationMs: number, devices: v.exactOptional(count) })),
    ),
  },
  arrivals: {
    flag: '--arrivals <event=rate>',
    help: 'extra requests at a fixed rate: alerts=20/s, logs=5/s, first-contacts=1/s',
    cli: { kind: 'rates' },
    value: arrivals,
    field: 'arrivals',
    result: v.exactOptional(v.array(v.object({ event: v.string(), perSecond: number }))),
  },
  /**
   * An open model: polls fall due at this rate for the whole fleet, whether or not the server has
   * answered the earlier ones. The rate replaces `poll` for devices that have a token.
   */
  pollRate: {
    flag: '--poll-rate <rate>',
    help: 'polls of the fleet at a fixed rate, whatever the server answers, instead of --poll: 500/s',
    cli: { kind: 'per-second', max: ARRIVALS_PER_SECOND_MAX },
    value: rate(ARRIVALS_PER_SECOND_MAX),
    field: 'pollsPerSecond',
    result: v.exactOptional(number),
  },
  /** In a result, the compared back-offs appear in the cohorts. */
  incident: {
    flag: '--incident <pairs>',
    help: "incident: 'power-cut, at: 10s'; repeatable",
    cli: { kind: 'pairs', isList: true },
    value: incidents,
    field: 'incidents',
    result: v.exactOptional(
      v.array(
        v.object({
          name: v.string(),
          atMs: number,
          withinMs: v.exactOptional(number),
          jitter: v.exactOptional(v.boolean()),
          lastingMs: v.exactOptional(number),
          cohort: v.exactOptional(v.string()),
        }),
      ),
    ),
  },
  /** The run ends no later than after this time. */
  duration: {
    flag: '--duration <duration>',
    help: 'end after this time (default: until Ctrl-C)',
    ...kinds.duration(1),
    field: 'durationMs',
  },
  /** Number of polls of each device; a device is switched off after its last poll. */
  iterations: {
    flag: '--iterations <count>',
    help: 'end after this many polls of each device',
    ...kinds.count(1, 1_000_000_000),
    field: 'iterations',
  },
  /**
   * A device has finished once its status in a deployment is final and acknowledged; in a run with
   * a deployment, that one.
   */
  until: {
    flag: '--until <event>',
    help: 'end once every device has finished a deployment',
    cli: { kind: 'choices', values: ['settled'] },
    value: v.literal('settled', 'must be "settled" or absent'),
    field: 'until',
    result: v.exactOptional(v.literal('settled')),
  },
  drain: {
    flag: '--drain <duration>',
    help: 'after the end of the run, wait this long for deployments in progress',
    ...kinds.duration(0),
    default: { value: '30s', text: '30s' },
    field: 'drainMs',
  },
} as const satisfies UngroupedPlanOptions);

const deviceOptions = groupRows('Devices', {
  ...policyOptions,
  deviceType: {
    flag: '--device-type <type>',
    help: 'type of the devices; artifacts must be compatible with it',
    ...kinds.text(limits.provideMaxCharacters),
    default: { value: defaultDeviceType },
    field: 'deviceType',
    result: v.string(),
  },
  idPrefix: {
    flag: '--id-prefix <text>',
    help: 'prefix of serial numbers (default: FB)',
    ...kinds.text(),
    field: 'idPrefix',
    value: v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9-]{1,32}$/, 'must be 1 to 32 letters, digits or dashes'),
    ),
  },
  rsaPool: {
    flag: '--rsa-pool <count>',
    help: 'number of RSA keys that the devices share (default: 64)',
    cli: { kind: 'count', min: 1, max: RSA_POOL_MAX },
    value: wholeNumber(1, RSA_POOL_MAX),
  },
  rsaBits: {
    flag: '--rsa-bits <bits>',
    help: 'size of RSA keys: 2048 or 3072 (default: 2048)',
    cli: {
      kind: 'read',
      read: (text) => rsaKeyBits.find((bits) => text === String(bits)),
      accepted: '2048 or 3072',
    },
    value: v.picklist(rsaKeyBits, 'must be 2048 or 3072'),
  },
  /** Without a folder, the keys exist only during the run. */
  rsaPoolFolder: {
    flag: '--rsa-pool-folder <folder>',
    help: "folder of the RSA keys (default: in the user's cache folder)",
    cli: { kind: 'text' },
    value: nonEmptyText,
    owner: 'worker',
  },
  /** The keys in this folder are used in place of all other device keys. */
  keyFolder: {
    flag: '--key-folder <folder>',
    help: 'folder of PEM files with your own device keys',
    ...kinds.path('device keys'),
    field: 'keyFolder',
  },
  /** Text of a JSON object with placeholders such as `{index}`. */
  idData: {
    flag: '--id-data <template>',
    help: 'template of the id_data: \'{"mac":"{mac}","nr":"{index}"}\'',
    ...kinds.text(),
    field: 'idData',
  },
  idDataCsv: {
    flag: '--id-data-csv <file>',
    help: 'CSV file of id_data, one row per device',
    ...kinds.path('id_data'),
    field: 'idDataFile',
  },
  state: {
    flag: '--state <folder>',
    help: 'folder that keeps the fleet between runs',
    ...kinds.path('state folder'),
    field: 'state',
  },
  ledger: {
    flag: '--ledger <file>',
    help: 'file that lists what the fleet creates, for `fleetbed cleanup`',
    ...kinds.path('ledger'),
    field: 'ledger',
  },
} as const satisfies UngroupedPlanOptions);

const resultOptions = groupRows('Results', {
  /** Conditions that the run must meet, such as `p99(poll) < 200ms`. */
  threshold: {
    flag: '--threshold <condition>',
    help: "condition to meet: 'p99(poll) < 200ms', 'errors < 0.1%'; repeatable",
    cli: { kind: 'thresholds' },
    value: thresholdsShape,
    field: 'thresholds',
    result: v.exactOptional(v.array(v.string())),
  },
  /** When false or absent, only thresholds with `abort on fail` end the run. */
  abortOnThreshold: {
    flag: '--abort-on-threshold',
    help: 'end the run as soon as a threshold can no longer be met',
    ...kinds.switch(),
    field: 'abortOnThreshold',
  },
  checkShare: {
    flag: '--check-share <share>',
    help: 'share of devices whose traffic is checked against the contract, such as 1%',
    cli: { kind: 'device-share' },
    value: checkShare,
    field: 'checkShare',
    result: v.exactOptional(number),
  },
} as const satisfies UngroupedPlanOptions);

/** Every option, by its name in a plan file. */
export const options = {
  ...fleetOptions,
  ...loadOptions,
  ...deviceOptions,
  ...connectionOptions,
  ...resultOptions,
};
