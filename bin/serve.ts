/** `fleetbed serve`: the reference server until Ctrl-C. */
import { type Command, Option } from 'commander';
import { clockStartingAt } from '../fixtures/clock.ts';
import { type VariantName, variantNames, variants } from '../fixtures/contract/variants.ts';
import { legalVariations } from '../server/control/variation/variations.ts';
import { type RunningServer, startServer } from '../server/server.ts';
import {
  defaultSettings,
  journalLimits,
  type LogLevel,
  logLevels,
  SettingError,
} from '../server/settings.ts';
import { StateFault } from '../server/store/state-fault.ts';
import type { RateLimit } from '../server/tenants/rate-limits.ts';
import { addExamples } from './examples.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { CommandFault, reportFault } from './fault.ts';
import { readPlanFile, unfiredLines } from './fault-plan-file.ts';
import { addOldNames } from './old-names.ts';
import * as values from './option-values.ts';
import { createOutput, type Output } from './output.ts';
import { consoleUrl, prepareReadyFile, serverReady, writeReadyFile } from './ready.ts';
import { leaveRunFile } from './run-file.ts';
import { SecretOption, secretVariables } from './secret-option.ts';
import { aborted, stopSignal } from './stop-signal.ts';
import {
  addTlsOptions,
  prepareCaFolder,
  publishTls,
  type TlsOptions,
  type TlsReady,
  tlsPlan,
} from './tls.ts';
import { loadWorldFile, worldLines } from './world-file.ts';

const SECONDS_PER_DAY = 86_400;
const DEVICE_LIMIT_MAX = 1_000_000;

interface ServeOptions extends TlsOptions {
  readonly host: string;
  readonly port: number;
  readonly controlPort: number;
  readonly adminEmail: string;
  readonly adminPassword?: string;
  readonly autoAccept?: boolean;
  readonly deviceLimit?: number;
  readonly pendingDevicesMax: number;
  readonly trustProxy?: boolean;
  readonly headerPrefix: string;
  readonly tokenLifetime: number;
  readonly linkLifetime: number;
  readonly logLevel: LogLevel;
  readonly data?: string;
  readonly world?: string;
  readonly rateLimit?: RateLimit;
  readonly date?: number;
  /** True when it was given without a name. */
  readonly dialect?: readonly VariantName[] | true;
  /** True when it was given without a seed. */
  readonly variationSeed?: string | true;
  readonly provisioningDelay: number;
  readonly faults?: string;
  readonly journalEntries: number;
  readonly journalBytes: number;
  readonly explainHeader?: boolean;
  readonly spreadsheetSafeCsv?: boolean;
  readonly readyFile?: string;
  readonly json?: boolean;
}

const help = `
Exit codes: 0 ended by Ctrl-C; 1 a planned fault never fired; 2 the command line is wrong; 3 a port,
file or folder cannot be used.
`;

/** Adds the options of `fleetbed serve` and what it does. */
export function configure(command: Command): void {
  addListeningOptions(command.optionsGroup('Listening:'));
  addUserOptions(command.optionsGroup('Users and devices:'));
  addStateOptions(command.optionsGroup('State and time:'));
  addBehaviourOptions(command.optionsGroup('Dialects, variation and faults:'));
  addLimitOptions(command.optionsGroup('Limits:'));
  addTlsOptions(command.optionsGroup('TLS:'));
  addJournalOptions(command.optionsGroup('Journal and log:'));
  command
    .optionsGroup('Output:')
    .option('--ready-file <file>', 'write this JSON file when ready', values.filled)
    .option('--json', 'print one JSON line when ready')
    .optionsGroup('Options:')
    .addHelpText('after', help)
    .action(async (options: ServeOptions) => {
      process.exitCode = await serve(options);
    });
  addOldNames(command, { '--variant': '--dialect', '--vary': '--variation-seed' });
  addExamples(
    command,
    'fleetbed serve',
    'fleetbed serve --port 0 --control-port 0 --auto-accept --ready-file ready.json',
    'fleetbed serve --world world.yaml --date 2027-08-25 --dialect open-source',
    'fleetbed serve --tls --tls-ca-out certificates --data state',
  );
}

const defaults = defaultSettings;

function addListeningOptions(command: Command): void {
  command
    .option('--host <address>', 'address to listen on', values.filled, defaults.host)
    .option('--port <port>', 'port of the API; 0 for any free port', values.port, defaults.port)
    .addOption(
      new Option(
        '--control-port <port>',
        'port of control listener and console; 0 for any free port',
      )
        .argParser(values.port)
        .default(defaults.controlPort),
    )
    .option('--trust-proxy', 'build links from X-Forwarded-Host and X-Forwarded-Proto');
}

function addUserOptions(command: Command): void {
  command
    .option('--admin-email <email>', 'first user', values.email, defaults.adminEmail)
    .addOption(
      new SecretOption(
        '--admin-password <password>',
        'password of the first user, at least 8 characters (default: random)',
        { variable: secretVariables.adminPassword, parse: values.adminPassword },
      ),
    )
    .option('--auto-accept', 'accept each device right after its first request, which is refused')
    .addOption(
      new Option('--header-prefix <prefix>', 'vendor part of header names')
        .argParser(values.headerPrefix)
        .default(defaults.headerPrefix),
    )
    .addOption(lifetime('--token-lifetime', 'lifetime of tokens', defaults.tokenLifetimeSeconds))
    .addOption(
      lifetime('--link-lifetime', 'lifetime of download links', defaults.linkLifetimeSeconds),
    );
}

function addStateOptions(command: Command): void {
  command
    .option(
      '--data <folder>',
      'keep the state in this folder over restarts (default: in memory)',
      values.filled,
    )
    .option(
      '--world <file>',
      'start state, see fleetbed world; SIGHUP loads it again',
      values.filled,
    )
    .option('--date <date>', 'start at this day or moment; time runs on', values.momentMs);
}

function addBehaviourOptions(command: Command): void {
  command
    .addOption(
      new Option(
        '--dialect [name]',
        'differ from the contract as other servers do; repeatable; without a name: list all dialects',
      ).argParser(values.someOf(variantNames)),
    )
    .addOption(
      new Option(
        '--provisioning-delay <duration>',
        'delay of the dialect asynchronous-provisioning',
      )
        .argParser(values.durationMs)
        .default(defaults.provisioningDelayMs, '1s'),
    )
    .addOption(
      new Option(
        '--variation-seed [seed]',
        'answer in other forms that the contract allows; without a seed: list all forms',
      ).argParser(values.filled),
    )
    .option(
      '--faults <file>',
      'fault plan (YAML or JSON); exit code 1 when one never fired',
      values.filled,
    )
    .option(
      '--spreadsheet-safe-csv',
      'put a quote before audit log CSV fields that begin with = + - @, tab or line end',
    );
}

function addLimitOptions(command: Command): void {
  command
    .option(
      '--device-limit <count>',
      'maximum number of accepted devices (default: unlimited)',
      values.count(0, DEVICE_LIMIT_MAX),
    )
    .addOption(
      new Option('--pending-devices-max <count>', 'maximum number of pending keys of a tenant')
        .argParser(values.count(1, DEVICE_LIMIT_MAX))
        .default(defaults.pendingDevicesMax),
    )
    .option(
      '--rate-limit <limit>',
      'requests of one caller in a time, such as 100/60s (default: unlimited)',
      values.rateLimit,
    );
}

function addJournalOptions(command: Command): void {
  command
    .addOption(
      new Option(
        '--journal-entries <count>',
        'entries that the journal of a tenant keeps; 0: no journal',
      )
        .argParser(values.count(...journalLimits.journalEntriesMax))
        .default(defaults.journalEntriesMax),
    )
    .addOption(
      new Option('--journal-bytes <bytes>', 'approximate memory of these entries')
        .argParser(values.count(...journalLimits.journalBytesMax))
        .default(defaults.journalBytesMax),
    )
    .addOption(
      new Option('--log-level <level>', 'detail of the log on standard error')
        .choices(logLevels)
        .default(defaults.logLevel),
    )
    .option('--explain-header', 'link to an explanation in a header of refused answers');
}

function lifetime(flag: string, meaning: string, defaultSeconds: number): Option {
  return new Option(`${flag} <duration>`, `${meaning}, such as 30s, 15m or 7d`)
    .argParser(values.lifetimeSeconds)
    .default(defaultSeconds, `${defaultSeconds / SECONDS_PER_DAY}d`);
}

async function serve(options: ServeOptions): Promise<ExitCode> {
  const { readyFile, json = false, tokenLifetime, linkLifetime, ...rest } = options;
  const { data, world, faults, date, provisioningDelay, ...kept } = rest;
  const { journalEntries, journalBytes, dialect, variationSeed, ...others } = kept;
  const { settings, caFolder } = tlsPlan(others);
  const output = createOutput(json);
  if (dialect === true) {
    tellVariants(output, json);
    return exitCodes.pass;
  }
  if (variationSeed === true) {
    tellVariations(output, json);
    return exitCodes.pass;
  }
  await prepareReadyFile(readyFile);
  await prepareCaFolder(caFolder);
  const rules = faults === undefined ? [] : await readPlanFile('--faults', faults);
  const stop = stopSignal();
  const server = await startServer({
    ...settings,
    tokenLifetimeSeconds: tokenLifetime,
    linkLifetimeSeconds: linkLifetime,
    variants: new Set(dialect),
    ...(variationSeed !== undefined && { varySeed: variationSeed }),
    provisioningDelayMs: provisioningDelay,
    journalEntriesMax: journalEntries,
    journalBytesMax: journalBytes,
    ...(data !== undefined && { dataFolder: data }),
    ...(date !== undefined && { clock: clockStartingAt(date) }),
  }).catch((error: unknown) => {
    if (error instanceof StateFault) throw new CommandFault(error.message, exitCodes.setUp, error);
    if (!(error instanceof SettingError)) throw error;
    throw new CommandFault(error.message, exitCodes.usage, error);
  });
  server.faults.add(rules);
  let removeRunFile: (() => void) | undefined;
  try {
    const tls = await publishTls(server, caFolder);
    const ready = serverReady(server, tls);
    if (world !== undefined) await loadNow(server, world, output);
    await writeReadyFile(readyFile, ready);
    removeRunFile = await leaveRunFile(ready, output);
    if (json) output.data(ready);
    else output.line([readyLine(server), ...tlsLines(tls)].join('\n'));
    await aborted(stop);
  } finally {
    removeRunFile?.();
    await server.close();
  }
  return faults === undefined ? exitCodes.pass : judged(server, output);
}

/** Tells of planned faults that the run never met. */
function judged({ faults }: RunningServer, output: Output): ExitCode {
  const lines = unfiredLines(faults.unfired());
  for (const line of lines) output.progress(line);
  return lines.length === 0 ? exitCodes.pass : exitCodes.failed;
}

/** Loads the world, now and at each SIGHUP; a file that has become wrong by then changes nothing. */
async function loadNow(server: RunningServer, file: string, output: Output): Promise<void> {
  const load = async () => {
    for (const line of worldLines(await loadWorldFile(file, server))) output.progress(line);
  };
  await load();
  process.on('SIGHUP', () => {
    load().catch((fault: unknown) => output.progress(reportFault(fault).sentence));
  });
}

/** Every variant with what it changes, in place of a server. */
function tellVariants(output: Output, json: boolean): void {
  if (json) {
    output.data(variants);
    return;
  }
  for (const [name, { differs, contract, metIn }] of Object.entries(variants)) {
    output.line(`${name}\n  ${differs}\n  contract: ${contract}\n  met in: ${metIn}`);
  }
}

/** Every legal variation with the rule that allows it, in place of a server. */
function tellVariations(output: Output, json: boolean): void {
  const told = legalVariations.map(({ id, varies, rule }) => ({ id, varies, rule }));
  if (json) {
    output.data(told);
    return;
  }
  for (const { id, varies, rule } of told) output.line(`${id}\n  ${varies}\n  rule: ${rule}`);
}

function readyLine(server: RunningServer): string {
  const { baseUrl, adminEmail, adminPassword } = server;
  const password = adminPassword === '' ? 'their own password' : `password ${adminPassword}`;
  return `ready at ${baseUrl}, ${adminEmail} with ${password}, console ${consoleUrl(server)}`;
}

/** Where the test CA is, and what is wrong behind which URL. */
function tlsLines({ caFile, gallery }: TlsReady = { gallery: {} }): string[] {
  const wrong = Object.entries(gallery).map(([name, url]) => `broken TLS at ${url}: ${name}`);
  return caFile === undefined ? wrong : [`test CA in ${caFile}`, ...wrong];
}
