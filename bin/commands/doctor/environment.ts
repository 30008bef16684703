/**
 * `fleetbed doctor environment`: finds conditions that would stop a run, and the number of devices
 * at which they do.
 */
import type { Command } from 'commander';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { defaultSettings } from '../../../server/settings.ts';
import type { EnvironmentCheck } from '../../../simulator/environment/check.ts';
import * as machine from '../../../simulator/environment/machine.ts';
import { clockCheck } from '../../../simulator/environment/time.ts';
import {
  reachCheck,
  responseCheck,
  type ServerCheckOptions,
  tlsCheck,
  trustCheck,
} from '../../../simulator/environment/way-to-server.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import * as values from '../../options/option-values.ts';
import { caOption, jsonOption } from '../../options/shared-options.ts';
import { urlOption } from '../../options/url-option.ts';
import { describeError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { readNamedFile } from '../../output/files.ts';
import { createOutput } from '../../output/output.ts';

const DEVICES_MAX = 1_000_000;

interface EnvironmentOptions extends machine.PlannedFleet {
  readonly url?: string;
  readonly ca?: string;
  readonly host: string;
  readonly port?: number;
  readonly controlPort?: number;
  readonly json?: boolean;
}

const codes = exitCodeHelp({
  pass: 'no check fails; there may be warnings',
  failed: 'a check fails',
  setUp: 'the file of --ca cannot be read',
});

const help = `
Checks open files, outgoing ports, ports to listen on (without --url, or when a port is given),
trusted authorities and the clock; with --url also reachability, TLS, API and the clock of the
server. Each check is pass, warn or fail; a check over the network takes at most 5 s.

JSON is {devices, connect, verdict, connectedDevicesMax?, checks: [check]}, where a check is
  {name, verdict: "pass"|"warn"|"fail", found, remedy?, connectedDevicesMax?}.
${codes}`;

/** Adds the options and the action of `fleetbed doctor environment`. */
export function configure(command: Command): void {
  command
    .option('--devices <count>', 'number of devices to run', values.count(1, DEVICES_MAX), 1000)
    .option('--connect', 'each device keeps a WebSocket open', false)
    .addOption(urlOption('base URL of the server that devices call'))
    .addOption(caOption())
    .option(
      '--host <address>',
      'address that a server will listen on',
      values.nonEmptyText,
      defaultSettings.host,
    )
    .option('--port <port>', 'port of the API (default: 8080 without --url)', values.port)
    .option(
      '--control-port <port>',
      'port of the control listener (default: 8081 without --url)',
      values.port,
    )
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(async (options: EnvironmentOptions) => {
      process.exitCode = await examine(options);
    });
  addExamples(
    command,
    'fleetbed doctor environment --devices 10000 --connect',
    'fleetbed doctor environment --url https://staging.example.com --ca ca.pem',
  );
}

async function examine(options: EnvironmentOptions): Promise<ExitCode> {
  const { devices, connect, url, ca } = options;
  const caPem = ca === undefined ? undefined : await readNamedFile('--ca', ca);
  const sentenceOf = (error: Error, host: string): string => describeError(error, host).sentence;
  const checkOptions = { caPem, clock: systemClock, sentenceOf };
  const connectionOptions = url === undefined ? undefined : { url: new URL(url), ...checkOptions };
  const checks = [
    machine.openFilesCheck(await machine.openFilesLimit(), options),
    machine.localPortsCheck(await machine.localPortRange(), options),
    ...(await portChecks(options)),
    await trustCheck(process.env, systemClock.now()),
    ...(await serverChecks(connectionOptions)),
  ];
  const isFailed = checks.some(({ verdict }) => verdict === 'fail');
  const bounds = checks.flatMap(({ connectedDevicesMax: bound }) =>
    bound === undefined ? [] : [bound],
  );
  const lowestBound = bounds.length > 0 ? { connectedDevicesMax: Math.min(...bounds) } : {};
  const output = createOutput(options.json ?? false);
  output.data({ devices, connect, verdict: isFailed ? 'fail' : 'pass', ...lowestBound, checks });
  if (!output.json) for (const line of linesOf(checks)) output.line(line);
  return isFailed ? exitCodes.failed : exitCodes.pass;
}

async function portChecks({
  host,
  port,
  controlPort,
  url,
}: EnvironmentOptions): Promise<EnvironmentCheck[]> {
  const defaults = url === undefined ? defaultSettings : undefined;
  const ports = [port ?? defaults?.port, controlPort ?? defaults?.controlPort];
  const fixedPorts = ports.filter((each) => each !== undefined && each !== 0);
  const checks: EnvironmentCheck[] = [];
  for (const each of new Set(fixedPorts)) {
    if (each !== undefined) checks.push(await machine.portCheck(host, each));
  }
  return checks;
}

/**
 * Runs the checks of a server up to the first error, because each check needs the one before it.
 */
async function serverChecks(
  connectionOptions: ServerCheckOptions | undefined,
): Promise<EnvironmentCheck[]> {
  if (!connectionOptions) return [clockCheck(systemClock.now(), undefined)];
  const checks = [];
  for (const step of [reachCheck, tlsCheck]) {
    const check = await step(connectionOptions);
    checks.push(check);
    if (check.verdict === 'fail') return [...checks, clockCheck(systemClock.now(), undefined)];
  }
  const response = await responseCheck(connectionOptions);
  return [...checks, response.check, clockCheck(systemClock.now(), response)];
}

function linesOf(checks: readonly EnvironmentCheck[]): string[] {
  const rows = checks.flatMap(({ name, verdict, found, remedy }) => [
    `${verdict}  ${name.padEnd(NAME_COLUMNS)} ${found}`,
    ...(remedy === undefined ? [] : [`${' '.repeat(NAME_COLUMNS + 7)}${remedy}`]),
  ]);
  const count = (verdict: EnvironmentCheck['verdict']) =>
    checks.filter((row) => row.verdict === verdict).length;
  return [...rows, `${count('fail')} fail, ${count('warn')} warn, ${count('pass')} pass`];
}

const NAME_COLUMNS = 14;
