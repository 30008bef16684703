/** The options of `fleetbed simulate` that make up its plan: one for each word of a plan file. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultHeaderPrefix } from '../../fixtures/contract/vendor-names.ts';
import { keyTypes } from '../../fixtures/contract/vocabulary.ts';
import { defaultDeviceType } from '../../simulator/plan/plan.ts';
import { PlanWordsError, readPlanPart } from '../../simulator/plan/plan-words.ts';
import { downloads, phases } from '../../simulator/plan/policy.ts';
import { ThresholdError, thresholdOf } from '../../simulator/plan/thresholds-parser.ts';
import { addLoginOptions } from '../login-options.ts';
import { addOldNames } from '../old-names.ts';
import * as values from '../option-values.ts';
import { SecretOption, secretVariables } from '../secret-option.ts';
import { addUrlOption } from '../url-option.ts';
import { acceptWithOption } from './connection-options.ts';
import { addIdentityOptions } from './identity-options.ts';

const DEVICES_MAX = 100_000;
const ITERATIONS_MAX = 1_000_000_000;

const keyShares = values.weights(keyTypes);

/** Adds them to the command, in groups. */
export function addPlanOptions(command: Command): Command {
  addFleetOptions(command.optionsGroup('Fleet:'));
  addLoadOptions(command.optionsGroup('Load:'));
  addDeviceOptions(command.optionsGroup('Devices:'));
  addConnectionOptions(command.optionsGroup('Connection:'));
  return addThresholdOptions(command.optionsGroup('Results:'));
}

/** Which devices there are, and what is deployed to them. */
function addFleetOptions(command: Command): void {
  command
    .option('--plan <file>', 'plan file: YAML or JSON with these options by name')
    .option('--devices <count>', 'number of devices', values.count(1, DEVICES_MAX), 10)
    .option('--seed <text>', 'seed: same seed, same fleet (default: random)', values.filled)
    .option('--keys <shares>', 'key types (default: rsa=1,ecdsa=1,ed25519=1)', keyShares)
    .option(
      '--behaviour <name=weight>',
      "behaviours of the devices, listed by 'simulate behaviours'; repeatable (default: steady=1)",
      values.weights(),
    )
    .option(
      '--behaviour-parameter <name.number=value>',
      'parameter of a behaviour, such as slow.installMs=5000; repeatable',
      behaviourParameter,
    )
    .option(
      '--behaviour-file <file>',
      'JavaScript file with more behaviours; repeatable',
      values.listed,
    )
    .option(
      '--cohort <words>',
      "part of the fleet that differs: 'night, weight: 2, poll: 1m'; repeatable",
      part('cohort'),
    )
    .option('--deploy <artifact>', 'deploy this artifact to the fleet', values.filled)
    .option('--deployment-name <text>', 'name of the deployment', values.filled);
}

/** How much happens when, and when it ends. */
function addLoadOptions(command: Command): void {
  command
    .addOption(
      new Option('--ramp <duration>', 'time over which devices make their first contact')
        .argParser(values.durationMs)
        .default(1000, '1s'),
    )
    .option(
      '--stage <words>',
      "stage of the run: 'ramp: 30s, devices: 100', 'hold: 2m'; repeatable",
      part('stage'),
    )
    .option(
      '--arrivals <event=rate>',
      'extra requests at a fixed rate: alerts=20/s, logs=5/s, first-contacts=1/s',
      arrivals,
    )
    .option('--incident <words>', "incident: 'power-cut, at: 10s'; repeatable", part('incident'))
    .option(
      '--duration <duration>',
      'end after this time (default: until Ctrl-C)',
      values.positiveDurationMs,
    )
    .option(
      '--iterations <count>',
      'end after this many polls of each device',
      values.count(1, ITERATIONS_MAX),
    )
    .addOption(
      new Option('--until <event>', 'end when every device has finished a deployment').choices([
        'settled',
      ]),
    )
    .addOption(
      new Option('--drain <duration>', 'time for open deployments to finish after the end')
        .argParser(values.durationMs)
        .default(values.durationMs('30s'), '30s'),
    );
  addOldNames(command, { '--scene': '--incident' });
}

/** Who each device is, and how it acts. */
function addDeviceOptions(command: Command): void {
  command
    .addOption(duration('--poll', 'time between two polls for an update', '5s'))
    .option(
      '--poll-jitter <share>',
      'random delay of a poll, as a share of the interval',
      values.share,
    )
    .addOption(new Option('--phase <phase>', 'spread of polls over the interval').choices(phases))
    .addOption(duration('--inventory', 'time between two inventory updates', '1m'))
    .option('--connect', 'open a websocket for every device')
    .option('--no-connect', 'open no websockets, whatever the plan file says')
    .addOption(
      new Option('--download <part>', 'part of an artifact to download').choices(downloads),
    )
    .option(
      '--back-off <words>',
      "wait after errors: 'kind: full-jitter, least: 1s, most: 1m'",
      one('backOff'),
    )
    .option(
      '--link <words>',
      "network quality: 'latency: 300ms, loss: 0.02, bytesPerSecond: 3000'",
      one('link'),
    )
    .addOption(
      new Option('--device-type <type>', 'device type, which artifacts must be compatible with')
        .argParser(values.filled)
        .default(defaultDeviceType),
    );
  addIdentityOptions(command);
}

/** Where the server is, and who the fleet and its user are there. */
function addConnectionOptions(command: Command): void {
  addLoginOptions(
    addUrlOption(command, {
      description: 'base URL of the server',
      usual: 'http://127.0.0.1:8080',
    }).option('--accept', 'accept the devices, as the user of --email or --token'),
  )
    .addOption(acceptWithOption())
    .addOption(
      new SecretOption('--tenant-token <token>', 'tenant token sent by the devices', {
        variable: secretVariables.tenantToken,
      }),
    )
    .addOption(
      new Option('--header-prefix <prefix>', "vendor prefix of the API's header names")
        .argParser(values.headerPrefix)
        .default(defaultHeaderPrefix),
    )
    .addOption(
      new Option('--request-time-limit <duration>', 'time limit of a request')
        .argParser(values.positiveDurationMs)
        .default(values.positiveDurationMs('30s'), '30s'),
    )
    .option('--ca <file>', 'PEM file with the certificate of the server or of its authority')
    .option('--cert <file>', "PEM file with the fleet's client certificate; needs --key")
    .option('--key <file>', 'PEM file with the private key of --cert')
    .option(
      '--source-addresses <addresses>',
      'local addresses to connect from, in turn',
      values.addresses,
    );
}

/** What the run is judged by. */
function addThresholdOptions(command: Command): Command {
  return command
    .option(
      '--threshold <condition>',
      "condition to meet: 'p99(poll) < 200ms', 'errors < 0.1%'; repeatable",
      threshold,
    )
    .option('--abort-on-threshold', 'end the run as soon as a threshold can no longer be met')
    .option(
      '--check-share <share>',
      'share of devices whose traffic is checked against the contract, such as 1%',
      checked,
    );
}

/** Of all devices: a share such as `1%` or `0.01`. */
function checked(text: string): number {
  const [, number = '', percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim()) ?? [];
  const value = number === '' ? 0 : Number(number) / (percent === '%' ? 100 : 1);
  if (value > 0 && value <= 1) return value;
  throw new InvalidArgumentError('Accepted: a share above 0, such as 1% or 0.01, at most 100%.');
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
  return new Option(`${flag} <duration>`, meaning)
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
