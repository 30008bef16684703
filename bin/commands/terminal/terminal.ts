/** `fleetbed terminal`: opens a shell on a connected device through the server. */
import type { Command } from 'commander';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { ClientError } from '../../../simulator/engine/simulate-fleet.ts';
import { StatusError } from '../../../simulator/network/errors.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import * as values from '../../options/option-values.ts';
import { CommandError, setupError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { readNamedFile } from '../../output/files.ts';
import { createOutput } from '../../output/output.ts';
import { stopSignal, untilAborted } from '../../output/stop-signal.ts';
import { ManagementApi } from '../../server-access/management-api.ts';
import { namedDevices } from '../../server-access/named-devices.ts';
import { addServerOptions, type ServerAccess } from '../../server-access/server-options.ts';
import { LocalTerminal } from './local-terminal.ts';
import { RemoteShell, ShellRefused } from './remote-shell.ts';

const REQUEST_TIME_LIMIT_MS = 30_000;

const codes = exitCodeHelp({
  pass: 'the shell has ended',
  failed: 'the shell was cut off',
  setUp:
    'no terminal was opened: the device is not connected or refuses a shell, or the server cannot be reached or refuses the user',
  interrupted: 'stopped by a signal',
});

/** Adds the options and the action of `fleetbed terminal`. */
export function configure(command: Command): void {
  command.addHelpText('after', codes);
  addServerOptions(command)
    .argument(
      '<device>',
      'ID, or a value of the identity such as the MAC address',
      values.nonEmptyText,
    )
    .action(async (device: string, options: ServerAccess) => {
      process.exitCode = await terminal(device, options);
    });
  addExamples(
    command,
    'fleetbed terminal 02:00:00:00:00:01',
    'fleetbed terminal 510ec865-ab99-4fad-80a9-8ac22e4aa0aa --url https://staging.example.com',
  );
}

async function terminal(device: string, options: ServerAccess): Promise<ExitCode> {
  const stop = stopSignal();
  const local = new LocalTerminal(process);
  if (local.isInteractive) createOutput(false).progress('Press Ctrl-] to leave the device.');
  const remote = await Promise.race([startShell(device, options, local), untilAborted(stop)]).catch(
    (error: unknown) => {
      throw terminalError(error, device, options);
    },
  );
  if (remote === undefined) return exitCodes.interrupted;
  try {
    const leaving = local.join(remote);
    const end = await Promise.race([remote.ended, leaving, untilAborted(stop)]);
    if (stop.aborted) return exitCodes.interrupted;
    if (end?.error === undefined) return exitCodes.pass;
    throw new CommandError(`the shell on ${device} ended: ${end.error}`, exitCodes.failed);
  } finally {
    local.restore();
    await remote.stop();
  }
}

async function startShell(
  device: string,
  options: ServerAccess,
  local: LocalTerminal,
): Promise<RemoteShell> {
  const { url: baseUrl, ca } = options;
  const caPem = ca === undefined ? options.caPem : await readNamedFile('--ca', ca);
  const api = await ManagementApi.open(options);
  const deviceId = await deviceIdOf(device, api);
  const reach = { baseUrl, caPem, clock: systemClock, requestTimeLimitMs: REQUEST_TIME_LIMIT_MS };
  return RemoteShell.start({ ...reach, token: api.token, deviceId }, local);
}

const deviceIdPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns the ID of a device. An ID is used directly, because not every user of terminals may list
 * the devices.
 */
async function deviceIdOf(name: string, api: ManagementApi): Promise<string> {
  if (deviceIdPattern.test(name)) return name;
  const [device] = namedDevices(await api.devices(), [name]);
  return device?.id ?? name;
}

/**
 * Converts an expected error of the start to a sentence with a remedy; returns any other error
 * unchanged.
 */
function terminalError(error: unknown, device: string, options: ServerAccess): unknown {
  const { url: baseUrl } = options;
  if (error instanceof ShellRefused) {
    const sentence = `${device} refuses a shell: ${error.message}`;
    return new CommandError(sentence, exitCodes.setUp, error);
  }
  if (!(error instanceof ClientError)) return error;
  const remedy = error instanceof StatusError ? remedyFor(error) : undefined;
  if (remedy === undefined) return setupError(error, baseUrl);
  return new CommandError(`${baseUrl}: ${error.message}; ${remedy}`, exitCodes.setUp, error);
}

function remedyFor({ status }: StatusError): string | undefined {
  if (status === 401) return 'get a valid token';
  if (status === 403) return 'this user may not open terminals; use another user';
  if (status === 404) return 'check the device ID, and that the device is connected';
  return undefined;
}
