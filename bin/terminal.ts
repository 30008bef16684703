/** `fleetbed terminal`: a shell on a connected device, by way of the server. */
import { type Command, Option } from 'commander';
import { systemClock } from '../fixtures/clock.ts';
import { StatusError } from '../simulator/client/errors.ts';
import { ManagementClient } from '../simulator/client/management.ts';
import { RemoteShell, ShellRefused } from '../simulator/client/remote-shell.ts';
import { Transport, type TransportOptions } from '../simulator/client/transport.ts';
import { ClientError } from '../simulator/simulator.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { CommandFault, setUpFault } from './fault.ts';
import { readNamedFile } from './files.ts';
import { LocalTerminal } from './local-terminal.ts';
import { addLoginOptions, type LoginOptions, loginWays } from './login-options.ts';
import * as values from './option-values.ts';
import { createOutput } from './output.ts';
import { aborted, stopSignal } from './stop-signal.ts';

const REQUEST_TIME_LIMIT_MS = 30_000;

interface TerminalOptions extends LoginOptions {
  readonly baseUrl: string;
  readonly ca?: string;
}

/** Adds the options of `fleetbed terminal` and what it does. */
export function configure(command: Command): void {
  addLoginOptions(command)
    .argument('<device-id>', 'the id that the server has given the device', values.filled)
    .addOption(
      new Option('--url, --base-url <url>', 'where the server is')
        .argParser(values.baseUrl)
        .default('http://127.0.0.1:8080'),
    )
    .option('--ca <file>', "PEM file with the server's certificate or its authority's")
    .action(async (deviceId: string, options: TerminalOptions) => {
      if (options.token === undefined && options.password === undefined) {
        command.error(`error: ${loginWays} is needed`);
      }
      process.exitCode = await terminal(deviceId, options);
    });
}

async function terminal(deviceId: string, options: TerminalOptions): Promise<ExitCode> {
  const stop = stopSignal();
  const local = new LocalTerminal(process);
  if (local.isInteractive) createOutput(false).progress('Ctrl-] leaves the device.');
  const remote = await Promise.race([started(deviceId, options, local), aborted(stop)]).catch(
    (error: unknown) => {
      throw terminalFault(error, deviceId, options);
    },
  );
  if (remote === undefined) return exitCodes.interrupted;
  try {
    const left = local.join(remote);
    const end = await Promise.race([remote.ended, left, aborted(stop)]);
    if (stop.aborted) return exitCodes.interrupted;
    if (end?.fault === undefined) return exitCodes.pass;
    throw new CommandFault(`the shell on ${deviceId} has ended: ${end.fault}`, exitCodes.failed);
  } finally {
    local.restore();
    await remote.stop();
  }
}

async function started(
  deviceId: string,
  options: TerminalOptions,
  local: LocalTerminal,
): Promise<RemoteShell> {
  const { baseUrl } = options;
  const caPem = options.ca === undefined ? undefined : await readNamedFile('--ca', options.ca);
  const reach = { baseUrl, caPem, clock: systemClock, requestTimeLimitMs: REQUEST_TIME_LIMIT_MS };
  const token = options.token ?? (await tokenOf(options, reach));
  return RemoteShell.start({ ...reach, token, deviceId }, local);
}

type Reach = Omit<TransportOptions, 'observer' | 'connectionsMax'>;

async function tokenOf(options: TerminalOptions, reach: Reach): Promise<string> {
  const { email, password = '' } = options;
  // Nobody asks for figures of a single login.
  const observer = {
    answered: () => undefined,
    unanswered: () => undefined,
    sent: () => undefined,
    signatureRefused: () => undefined,
  };
  const transport = new Transport({ ...reach, observer, connectionsMax: 1 });
  try {
    const credentials = { email, password };
    return await new ManagementClient({ transport, clock: reach.clock, credentials }).token();
  } finally {
    await transport.close();
  }
}

/** The fault of a start in a sentence with the way out; what is not foreseen stays as it is. */
function terminalFault(error: unknown, deviceId: string, options: TerminalOptions): unknown {
  const { baseUrl, email } = options;
  if (error instanceof ShellRefused) {
    const sentence = `${deviceId} gives no shell: ${error.message}`;
    return new CommandFault(sentence, exitCodes.setUp, error);
  }
  if (!(error instanceof ClientError)) return error;
  const way = error instanceof StatusError ? wayOut(error, email) : undefined;
  if (way === undefined) return setUpFault(error, baseUrl);
  return new CommandFault(`${baseUrl}: ${error.message}; ${way}`, exitCodes.setUp, error);
}

function wayOut({ operation, status }: StatusError, email: string): string | undefined {
  if (operation === 'login' && status === 401) return `check --email ${email} and its password`;
  if (status === 401) return 'the token is not taken: log in anew';
  if (status === 403) return 'this user may not open terminals: use another one';
  if (status === 404) return 'check the id of the device, and that it is connected';
  return undefined;
}
