/** `fleetbed serve`: the reference server until Ctrl-C. */
import { type Command, Option } from 'commander';
import { clockStartingAt } from '../fixtures/clock.ts';
import { type VariantName, variantNames, variants } from '../fixtures/contract/variants.ts';
import type { RateLimit } from '../server/limiter/rate-limits.ts';
import { type RunningServer, startServer } from '../server/server.ts';
import {
  defaultSettings,
  journalLimits,
  type LogLevel,
  logLevels,
  SettingError,
} from '../server/settings.ts';
import { StateFault } from '../server/store/state-fault.ts';
import { legalVariations } from '../server/vary/variations.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { CommandFault, reportFault } from './fault.ts';
import { readPlanFile, unfiredLines } from './faults.ts';
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
import { loadWorldFile, worldLines } from './world.ts';

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
  readonly variant?: readonly VariantName[] | true;
  /** True when it was given without a seed. */
  readonly vary?: string | true;
  readonly provisioningDelay: number;
  readonly faults?: string;
  readonly journalEntries: number;
  readonly journalBytes: number;
  readonly explainHeader?: boolean;
  readonly spreadsheetSafeCsv?: boolean;
  readonly readyFile?: string;
  readonly json?: boolean;
}

/** Adds the options of `fleetbed serve` and what it does. */
export function configure(command: Command): void {
  const defaults = defaultSettings;
  command
    .option('--host <address>', 'address to listen on', values.filled, defaults.host)
    .option('--port <port>', 'of the API; 0 is any free port', values.port, defaults.port)
    .addOption(
      new Option('--control-port <port>', 'of control and console; 0 is any free port')
        .argParser(values.port)
        .default(defaults.controlPort),
    )
    .option('--admin-email <email>', 'who may log in', values.email, defaults.adminEmail)
    .addOption(
      new SecretOption('--admin-password <password>', 'at least 8 characters; random when absent', {
        variable: secretVariables.adminPassword,
        parse: values.adminPassword,
      }),
    )
    .option('--auto-accept', 'accept each device right after its first request, which is refused')
    .option(
      '--device-limit <n>',
      'how many devices a tenant may accept; any number when absent',
      values.count(0, DEVICE_LIMIT_MAX),
    )
    .addOption(
      new Option('--pending-devices-max <n>', 'keys of a tenant that may wait to be accepted')
        .argParser(values.count(1, DEVICE_LIMIT_MAX))
        .default(defaults.pendingDevicesMax),
    )
    .addOption(
      new Option('--header-prefix <prefix>', "the vendor's part of header names")
        .argParser(values.headerPrefix)
        .default(defaults.headerPrefix),
    )
    .addOption(lifetime('--token-lifetime', 'of tokens', defaults.tokenLifetimeSeconds))
    .addOption(lifetime('--link-lifetime', 'of download links', defaults.linkLifetimeSeconds))
    .option('--trust-proxy', 'build links from X-Forwarded-Host and X-Forwarded-Proto')
    .addOption(
      new Option('--log-level <level>', 'what the log on standard error shows')
        .choices(logLevels)
        .default(defaults.logLevel),
    )
    .option(
      '--data <folder>',
      'keep everything there over restarts; in memory when absent',
      values.filled,
    )
    .option(
      '--world <file>',
      'begin in the state of this file; SIGHUP loads it again',
      values.filled,
    )
    .option(
      '--rate-limit <limit>',
      'requests of one caller in a time, such as 100/60s; any number when absent',
      values.rateLimit,
    )
    .option('--date <date>', 'begin on this day or at this moment; time runs on', values.momentMs)
    .addOption(
      new Option(
        '--variant [name]',
        'be otherwise than the contract, as servers of the field are; repeatable; without a name: tell of all',
      ).argParser(values.someOf(variantNames)),
    )
    .addOption(
      new Option(
        '--vary [seed]',
        'give each answer another legal form, by a seed; without a seed: tell of all forms',
      ).argParser(values.filled),
    )
    .addOption(
      new Option('--provisioning-delay <duration>', 'of the variant asynchronous-provisioning')
        .argParser(values.durationMs)
        .default(defaults.provisioningDelayMs, '1s'),
    )
    .option(
      '--faults <file>',
      'plan faults (YAML or JSON); one that never fired by the end gives exit code 1',
      values.filled,
    )
    .addOption(
      new Option('--journal-entries <n>', 'what the journal of each world keeps; 0 turns it off')
        .argParser(values.count(...journalLimits.journalEntriesMax))
        .default(defaults.journalEntriesMax),
    )
    .addOption(
      new Option('--journal-bytes <n>', 'about what these may take in memory')
        .argParser(values.count(...journalLimits.journalBytesMax))
        .default(defaults.journalBytesMax),
    )
    .option(
      '--spreadsheet-safe-csv',
      'put a quote before fields of the audit log CSV that begin with = + - @, tab or line end',
    )
    .option('--explain-header', 'refused answers tell in a header where they are explained')
    .option('--ready-file <file>', 'write this JSON file when ready', values.filled)
    .option('--json', 'write one JSON line when ready')
    .action(async (options: ServeOptions) => {
      process.exitCode = await serve(options);
    });
  addTlsOptions(command);
}

function lifetime(flag: string, meaning: string, defaultSeconds: number): Option {
  return new Option(`${flag} <duration>`, `lifetime ${meaning}, such as 30s, 15m or 7d`)
    .argParser(values.lifetimeSeconds)
    .default(defaultSeconds, `${defaultSeconds / SECONDS_PER_DAY}d`);
}

async function serve(options: ServeOptions): Promise<ExitCode> {
  const { readyFile, json = false, tokenLifetime, linkLifetime, ...rest } = options;
  const { data, world, faults, date, variant, vary, provisioningDelay, ...kept } = rest;
  const { journalEntries, journalBytes, ...others } = kept;
  const { settings, caFolder } = tlsPlan(others);
  const output = createOutput(json);
  if (variant === true) {
    tellVariants(output, json);
    return exitCodes.pass;
  }
  if (vary === true) {
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
    variants: new Set(variant),
    ...(vary !== undefined && { varySeed: vary }),
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
  const password = adminPassword === '' ? 'his own password' : `password ${adminPassword}`;
  return `ready at ${baseUrl}, ${adminEmail} with ${password}, console ${consoleUrl(server)}`;
}

/** Where the test CA is, and what is wrong behind which URL. */
function tlsLines({ caFile, gallery }: TlsReady = { gallery: {} }): string[] {
  const wrong = Object.entries(gallery).map(([name, url]) => `wrong TLS at ${url}: ${name}`);
  return caFile === undefined ? wrong : [`test CA in ${caFile}`, ...wrong];
}
