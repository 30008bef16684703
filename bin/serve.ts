/** `fleetbed serve`: the reference server until Ctrl-C. */
import { type Command, Option } from 'commander';
import { clockStartingAt } from '../fixtures/clock.ts';
import { type VariantName, variantNames, variants } from '../fixtures/contract/variants.ts';
import { type RunningServer, startServer } from '../server/server.ts';
import { defaultSettings, type LogLevel, logLevels, SettingError } from '../server/settings.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { CommandFault } from './fault.ts';
import * as values from './option-values.ts';
import { createOutput, type Output } from './output.ts';
import { consoleUrl, prepareReadyFile, serverReady, writeReadyFile } from './ready.ts';
import { aborted, stopSignal } from './stop-signal.ts';

const SECONDS_PER_DAY = 86_400;
const DEVICE_LIMIT_MAX = 1_000_000;

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly controlPort: number;
  readonly adminEmail: string;
  readonly adminPassword?: string;
  readonly autoAccept?: boolean;
  readonly deviceLimit?: number;
  readonly trustProxy?: boolean;
  readonly headerPrefix: string;
  readonly tokenLifetime: number;
  readonly linkLifetime: number;
  readonly logLevel: LogLevel;
  readonly date?: number;
  /** True when it was given without a name. */
  readonly variant?: readonly VariantName[] | true;
  readonly provisioningDelay: number;
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
      new Option('--admin-password <password>', 'at least 8 characters; random when absent')
        .env('FLEETBED_ADMIN_PASSWORD')
        .argParser(values.adminPassword),
    )
    .option('--auto-accept', 'accept each device right after its first request, which is refused')
    .option(
      '--device-limit <n>',
      'how many devices a tenant may accept; any number when absent',
      values.count(0, DEVICE_LIMIT_MAX),
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
    .option('--date <date>', 'begin on this day or at this moment; time runs on', values.momentMs)
    .addOption(
      new Option(
        '--variant [name]',
        'be otherwise than the contract, as servers of the field are; repeatable; without a name: tell of all',
      ).argParser(values.someOf(variantNames)),
    )
    .addOption(
      new Option('--provisioning-delay <duration>', 'of the variant asynchronous-provisioning')
        .argParser(values.durationMs)
        .default(defaults.provisioningDelayMs, '1s'),
    )
    .option('--ready-file <file>', 'write this JSON file when ready', values.filled)
    .option('--json', 'write one JSON line when ready')
    .action(async (options: ServeOptions) => {
      process.exitCode = await serve(options);
    });
}

function lifetime(flag: string, meaning: string, defaultSeconds: number): Option {
  return new Option(`${flag} <duration>`, `lifetime ${meaning}, such as 30s, 15m or 7d`)
    .argParser(values.lifetimeSeconds)
    .default(defaultSeconds, `${defaultSeconds / SECONDS_PER_DAY}d`);
}

async function serve(options: ServeOptions): Promise<ExitCode> {
  const { readyFile, json = false, tokenLifetime, linkLifetime, ...rest } = options;
  const { date, variant, provisioningDelay, ...settings } = rest;
  const output = createOutput(json);
  if (variant === true) {
    tellVariants(output, json);
    return exitCodes.pass;
  }
  await prepareReadyFile(readyFile);
  const stop = stopSignal();
  const server = await startServer({
    ...settings,
    tokenLifetimeSeconds: tokenLifetime,
    linkLifetimeSeconds: linkLifetime,
    variants: new Set(variant),
    provisioningDelayMs: provisioningDelay,
    ...(date !== undefined && { clock: clockStartingAt(date) }),
  }).catch((error: unknown) => {
    if (!(error instanceof SettingError)) throw error;
    throw new CommandFault(error.message, exitCodes.usage, error);
  });
  try {
    const ready = serverReady(server);
    await writeReadyFile(readyFile, ready);
    if (json) output.data(ready);
    else output.line(readyLine(server));
    await aborted(stop);
  } finally {
    await server.close();
  }
  return exitCodes.pass;
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

function readyLine(server: RunningServer): string {
  const { baseUrl, adminEmail, adminPassword } = server;
  return `ready at ${baseUrl}, ${adminEmail} with password ${adminPassword}, console ${consoleUrl(server)}`;
}
