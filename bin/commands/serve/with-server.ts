/**
 * `fleetbed with-server`: starts a reference server on free ports, runs a command against it, and
 * stops it. Server and command end together, however the command ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Command } from 'commander';
import type { OptionRows } from '../../../fixtures/base/option-row.ts';
import { secretVariables } from '../../../fixtures/base/secret-variables.ts';
import { settingRows } from '../../../server/settings.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import { addOptionRows } from '../../options/option-rows.ts';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { createOutput } from '../../output/output.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import { tlsOptionRows } from '../../server-access/tls.ts';
import { runWithServer, type ServeOptions, startRows } from './serve.ts';

/**
 * The options of `fleetbed serve`, with free ports and without a log, so that runs share a machine.
 */
const rows = {
  ...settingRows,
  port: { ...settingRows.port, default: { value: 0, text: 'any free port' } },
  controlPort: { ...settingRows.controlPort, default: { value: 0, text: 'any free port' } },
  logLevel: { ...settingRows.logLevel, default: { value: 'error' } },
  ...startRows,
} as const satisfies OptionRows;

const codes = exitCodeHelp({
  failed: 'the command ended with 0, but a fault of --faults never fired',
  setUp: 'the server or the command cannot start',
});

const help = `
The command finds the server by these variables, which the other commands of fleetbed read too:
FLEETBED_URL, FLEETBED_EMAIL, FLEETBED_PASSWORD, FLEETBED_CONTROL_URL and FLEETBED_CONTROL_TOKEN.
SIGINT and SIGTERM are passed on to it.

The exit code is that of the command, or 128 plus the number of the signal that ended it.
${codes}`;

/** Adds the options and the action of `fleetbed with-server`. */
export function configure(command: Command): void {
  for (const each of [rows, tlsOptionRows]) addOptionRows(command, each);
  command
    .usage('[options] -- COMMAND [ARGUMENTS...]')
    .argument('<command...>', 'command to run, with its arguments')
    .passThroughOptions()
    .addHelpText('after', help)
    .action(async (args: readonly string[], options: ServeOptions) => {
      const { dialect, variationSeed } = options;
      if (dialect === true) command.error('--dialect needs a name here');
      if (variationSeed === true) command.error('--variation-seed needs a seed here');
      process.exitCode = await withServer(args, options);
    });
  addExamples(
    command,
    'fleetbed with-server -- fleetbed conform --disruptive --require-all-must',
    'fleetbed with-server --auto-accept --world world.yaml -- npm test',
    'fleetbed with-server -- sh -c \'my-client --server "$FLEETBED_URL"\'',
  );
}

function withServer(args: readonly string[], options: ServeOptions): Promise<number> {
  return runWithServer(options, createOutput(true), async ({ ready }) => {
    const [program = '', ...programArgs] = args;
    const child = spawn(program, programArgs, { stdio: 'inherit', env: environmentOf(ready) });
    const release = passOnSignals(child);
    try {
      return await exitCodeOf(child, program);
    } finally {
      release();
    }
  });
}

/** Returns the environment of the command, without a token of the user for another server. */
function environmentOf({ adminPassword, ...ready }: ServerReady): NodeJS.ProcessEnv {
  const { password, userToken, controlToken } = secretVariables;
  const { [userToken]: _, [password]: __, ...inherited } = process.env;
  // The password of a server with stored state may be unknown; a password outlives a moved clock.
  const user =
    adminPassword === '' ? { [userToken]: ready.adminToken } : { [password]: adminPassword };
  return {
    ...inherited,
    FLEETBED_URL: ready.baseUrl,
    FLEETBED_EMAIL: ready.adminEmail,
    ...user,
    FLEETBED_CONTROL_URL: ready.controlUrl,
    [controlToken]: ready.controlToken,
  };
}

/**
 * Passes signals on to the command. A terminal sends Ctrl-C to both processes, so it is not passed
 * on there: a second one would end the command without its summary.
 */
function passOnSignals(child: ChildProcess): () => void {
  const isOnTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const onInterrupt = (): void => {
    if (!isOnTerminal) child.kill('SIGINT');
  };
  const onTerminate = (): void => {
    child.kill('SIGTERM');
  };
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onTerminate);
  return () => {
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onTerminate);
  };
}

/** Resolves with the exit code of the command. @throws CommandError when it cannot start */
function exitCodeOf(child: ChildProcess, program: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'ENOENT' ? 'there is no such command' : error.message;
      reject(new CommandError(`cannot run ${program}: ${reason}.`, exitCodes.setUp, error));
    });
    child.once('exit', (code, signal) => {
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
