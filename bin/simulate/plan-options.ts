/** The options of `fleetbed simulate` that make up its plan: one for each word of a plan file. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultHeaderPrefix } from '../../fixtures/contract/vendor-names.ts';
import { keyTypes } from '../../fixtures/contract/vocabulary.ts';
import { defaultDeviceType } from '../../simulator/fleet/muster.ts';
import { PlanWordsError, readPlanPart } from '../../simulator/fleet/plan-words.ts';
import { downloads, phases } from '../../simulator/fleet/policy.ts';
import { ThresholdError, thresholdOf } from '../../simulator/report/thresholds-parser.ts';
import * as values from '../option-values.ts';
import { SecretOption, secretVariables } from '../secret-option.ts';
import { addIdentityOptions } from './identity-options.ts';

const DEVICES_MAX = 100_000;
const ITERATIONS_MAX = 1_000_000_000;

const keyShares = values.weights(keyTypes);
const behaviourMeaning = "see 'fleetbed simulate behaviours'; repeatable (default: steady=1)";

/** Adds them to the command. */
export function addPlanOptions(command: Command): Command {
  addTargetOptions(command);
  addFleetOptions(command);
  addPolicyOptions(command);
  addLoadOptions(command);
  addIdentityOptions(command);
  return command.option('--plan <file>', 'YAML or JSON with the options by their names');
}

/** Where the server is, and who the fleet and its operator are there. */
function addTargetOptions(command: Command): void {
  command
    .addOption(
      new Option('--base-url <url>', 'where the server is')
        .argParser(values.baseUrl)
        .default('http://127.0.0.1:8080'),
    )
    .addOption(
      new SecretOption('--tenant-token <token>', 'sent with every authentication request', {
        variable: secretVariables.tenantToken,
      }),
    )
    .addOption(
      new Option('--header-prefix <prefix>', "the vendor's part of header names")
        .argParser(values.headerPrefix)
        .default(defaultHeaderPrefix),
    )
    .addOption(
      new SecretOption('--accept-with <email:password>', 'accept the own devices', {
        variable: secretVariables.acceptWith,
        parse: values.credentials,
      }),
    )
    .option('--deploy <artifact>', 'deploy this artifact to the own devices', values.filled)
    .option('--deployment-name <text>', 'how the deployment is called', values.filled)
    .addOption(
      new Option('--request-time-limit <duration>', 'after which a request is given up')
        .argParser(values.positiveDurationMs)
        .default(values.positiveDurationMs('30s'), '30s'),
    )
    .option('--ca <file>', "PEM file with the server's certificate or its authority's")
    .option('--cert <file>', "PEM file with the fleet's own certificate; with --key")
    .option('--key <file>', 'PEM file with the key of --cert')
    .option(
      '--source-addresses <addresses>',
      'own addresses to connect from, in turn',
      values.addresses,
    );
}

/** Which devices there are. */
function addFleetOptions(command: Command): void {
  command
    .option('--devices <count>', 'how many', values.count(1, DEVICES_MAX), 10)
    .option('--keys <shares>', 'key types (default: rsa=1,ecdsa=1,ed25519=1)', keyShares)
    .option('--seed <text>', 'same seed, same fleet (default: a new one, printed)', values.filled)
    .option('--behaviour <name=weight>', behaviourMeaning, values.weights())
    .option('--behaviour-file <file>', 'JavaScript with more of them; repeatable', values.listed)
    .option(
      '--behaviour-parameter <name.number=value>',
      'as slow.installMs=5000',
      behaviourParameter,
    )
    .option('--cohort <words>', "a part that differs: 'night, weight: 2, poll: 1m'", part('cohort'))
    .option('--id-prefix <text>', 'what serial numbers begin with (default: FB)', values.filled)
    .addOption(
      new Option('--device-type <type>', 'of every device; what an artifact must be made for')
        .argParser(values.filled)
        .default(defaultDeviceType),
    );
}

/** How each device deals with the server. */
function addPolicyOptions(command: Command): void {
  command
    .addOption(duration('--poll', 'between two questions for an update', '5s'))
    .option('--poll-jitter <share>', 'of the interval by which a poll may be late', values.share)
    .addOption(new Option('--phase <phase>', 'when in the interval devices poll').choices(phases))
    .addOption(duration('--inventory', 'between two inventories', '1m'))
    .option('--connect', 'hold a websocket for every device')
    .option('--no-connect', 'hold none, whatever the plan file says')
    .addOption(new Option('--download <part>', 'what is fetched').choices(downloads))
    .option('--back-off <words>', "'kind: full-jitter, least: 1s, most: 1m'", one('backOff'))
    .option('--link <words>', "'latency: 300ms, loss: 0.02, bytesPerSecond: 3000'", one('link'));
}

/** When how much of it happens, and when it ends. */
function addLoadOptions(command: Command): void {
  command
    .addOption(
      new Option('--ramp <duration>', 'time over which the first contacts are spread')
        .argParser(values.durationMs)
        .default(1000, '1s'),
    )
    .option('--stage <words>', "'ramp: 30s, devices: 100', 'hold: 2m'; repeatable", part('stage'))
    .option('--arrivals <event=rate>', 'alerts=20/s, logs=.., first-contacts=..', arrivals)
    .option('--scene <words>', "'power-cut, at: 10s, within: 5s'; repeatable", part('scene'))
    .option('--duration <duration>', 'end after this (default: Ctrl-C)', values.positiveDurationMs)
    .option('--iterations <count>', 'polls of each device', values.count(1, ITERATIONS_MAX))
    .addOption(
      new Option('--until <event>', 'end when each device has ended a deployment').choices([
        'settled',
      ]),
    )
    .addOption(
      new Option('--drain <duration>', 'time for open deployments after the end')
        .argParser(values.durationMs)
        .default(values.durationMs('30s'), '30s'),
    )
    .option('--threshold <demand>', "'p99(poll) < 200ms', 'errors < 0.1%'; repeatable", threshold)
    .option('--check-share <share>', 'check so many devices against the contract, as 1%', checked)
    .option('--abort-on-threshold', 'end as soon as a threshold cannot be met any more');
}

/** Of all devices: a share such as `1%` or `0.01`. */
function checked(text: string): number {
  const [, number = '', percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim()) ?? [];
  const value = number === '' ? 0 : Number(number) / (percent === '%' ? 100 : 1);
  if (value > 0 && value <= 1) return value;
  throw new InvalidArgumentError('Accepted: a share above 0, such as 1% or 0.01; at most 100%.');
}

/** Keeps the words: the plan has them as they were written. */
function threshold(text: string, previous: readonly string[] = []): readonly string[] {
  try {
    thresholdOf(text);
  } catch (error) {
    if (error instanceof ThresholdError) throw new InvalidArgumentError(`${error.message}.`);
    throw error;
  }
  return [...previous, text];
}

function duration(flag: string, meaning: string, shown: string): Option {
  return new Option(`${flag} <duration>`, `time ${meaning}`)
    .argParser(values.positiveDurationMs)
    .default(values.positiveDurationMs(shown), shown);
}

type PartName = Parameters<typeof readPlanPart>[0];

/** A parser of words such as `ramp: 30s, devices: 100`. */
function one<const Name extends PartName>(name: Name) {
  return (text: string) => {
    try {
      return readPlanPart(name, text);
    } catch (error) {
      if (error instanceof PlanWordsError) throw new InvalidArgumentError(`${error.message}.`);
      throw error;
    }
  };
}

/** The same, of an option that is used several times. */
function part<const Name extends PartName>(name: Name) {
  const read = one(name);
  type Words = ReturnType<typeof read>;
  return (text: string, previous: readonly Words[] = []): readonly Words[] => [
    ...previous,
    read(text),
  ];
}

const ARRIVALS_PER_SECOND_MAX = 100_000;
const parseRate = values.perSecond(ARRIVALS_PER_SECOND_MAX);

function arrivals(
  text: string,
  previous: Readonly<Record<string, number>> = {},
): Readonly<Record<string, number>> {
  const added = text.split(',').map((row): [string, number] => {
    const [event = '', rate = ''] = row.split('=');
    return [event.trim(), parseRate(rate.trim())];
  });
  return { ...previous, ...Object.fromEntries(added) };
}

type Numbers = Readonly<Record<string, Readonly<Record<string, number>>>>;

function behaviourParameter(text: string, previous: Numbers = {}): Numbers {
  const [, name = '', number = '', value] =
    /^([\w-]+)\.(\w+)=(-?\d+(?:\.\d+)?)$/.exec(text.trim()) ?? [];
  if (value === undefined) {
    throw new InvalidArgumentError(
      'Accepted: BEHAVIOUR.NUMBER=VALUE, such as slow.installMs=5000.',
    );
  }
  return { ...previous, [name]: { ...previous[name], [number]: Number(value) } };
}
