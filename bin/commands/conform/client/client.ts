/** `fleetbed conform client`: judges a device client by the duties of clients. */
import type { Command } from 'commander';
import {
  groupRows,
  type UngroupedRows,
  type ValuesOf,
} from '../../../../fixtures/base/option-row.ts';
import { addExamples } from '../../../options/examples.ts';
import { exitCodeHelp } from '../../../options/exit-code-help.ts';
import { addOptionRows } from '../../../options/option-rows.ts';
import { jsonOption } from '../../../options/shared-options.ts';
import type { ExitCode } from '../../../output/exit-codes.ts';
import { addControlOptions, type ControlAccess } from '../../../server-access/control-listener.ts';
import { judgeRecordedClients } from './from-file.ts';
import { setUpScene } from './set-up.ts';
import { type ClientTestRowValues, clientTestRows, testClient } from './test-client.ts';
import { watchClients } from './watch.ts';

const codes = exitCodeHelp({
  pass: 'no duty is broken',
  failed:
    'a duty of the level of --fail-on is broken and not waived, a waiver is expired or obsolete, or with --require-all-must a MUST was not tested',
  setUp: 'the server cannot start, or a file cannot be used',
  inconclusive: 'the client sent no request, or a scene could not be completed',
  interrupted: 'interrupted',
});

const help = `
The client is started once for each scene, with an empty folder and its own server. In the command,
{server} is the address of the server, {ca} the file with its CA certificate (the server uses TLS if
the command contains {ca}), and {dir} the folder in which the client keeps its identity and its state.

--schema prints the JSON Schema of the result. A waiver is {id: DUTY, reason, owner, expires} in a list "waivers".
${codes}
--watch shows the duties of the clients of a running server: it redraws them on a terminal, and prints
them elsewhere after each change. It ends with Ctrl-C, or after --time. JSON is the response to GET /clients, or to
GET /clients/{device} of the control API; with --from it is {file, clients}.
`;

const watchRows = groupRows('Watching and recordings', {
  watch: {
    flag: '--watch [device]',
    help: 'show live the duties of all devices of a running server, or of one: its ID or identity value',
    cli: { kind: 'text' },
  },
  setUp: {
    flag: '--set-up <scene>',
    help: 'set up this scene on a running server: plan its faults, or move the clock',
    cli: { kind: 'text' },
  },
  device: {
    flag: '--device <device>',
    help: 'restrict the faults of --set-up to this device: its ID or identity value',
    cli: { kind: 'text' },
  },
  from: {
    flag: '--from <file>',
    help: 'judge the devices in a HAR file, a journal or a session',
    cli: { kind: 'file' },
  },
} as const satisfies UngroupedRows);

type ClientOptions = Omit<ValuesOf<typeof watchRows>, 'watch'> &
  ClientTestRowValues &
  ControlAccess & { readonly watch?: string | true };

function usesServer(options: object): boolean {
  return 'watch' in options || 'setUp' in options;
}

async function run(options: ClientOptions): Promise<ExitCode> {
  const { watch, from, setUp } = options;
  if (setUp !== undefined) return setUpScene({ ...options, setUp });
  if (watch !== undefined) return watchClients(options);
  return from === undefined ? testClient(options) : judgeRecordedClients(from, options);
}

/** Adds the options and the action of the subcommand. */
export function configure(command: Command): void {
  addExamples(
    command,
    `fleetbed conform client --command './my-client --server {server} --ca {ca} --dir {dir}'`,
    'fleetbed conform client --wait --advertise 192.0.2.10 --port 8443',
    `fleetbed conform client --command './my-client {server} {dir}' --scene abort --seed 7`,
    'fleetbed conform client --list --interval 30s',
    'fleetbed conform client --watch',
    'fleetbed conform client --set-up abort --device 02:00:00:00:00:01',
    'fleetbed conform client --from traffic.har',
  );
  addControlOptions(command, usesServer);
  addOptionRows(command, { ...watchRows, ...clientTestRows })
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(async (options: ClientOptions) => {
      const { command: commandLine, wait, list, schema, watch, from, setUp } = options;
      const values = [commandLine, watch, from, setUp].map((value) => value !== undefined);
      if ([...values, wait, list, schema].filter(Boolean).length !== 1)
        command.error(
          'give one of --command, --wait, --watch, --set-up, --from, --list and --schema',
        );
      process.exitCode = await run(options);
    });
}
