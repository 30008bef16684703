/** `fleetbed conform client`: judges a device client by the duties of clients. */
import type { Command } from 'commander';
import { addExamples } from '../../../options/examples.ts';
import { addOptionRows } from '../../../options/option-rows.ts';
import { type ExamineOptions, examineClient, examineRows } from './examine.ts';

const help = `
The client is started once for each scene, with an empty folder and a server of its own. In the command
{server} is the address of the server, {ca} the file with the certificate of its authority (the server uses
TLS if the command names it) and {dir} the folder in which the client keeps its identity and its state.

--schema prints the JSON Schema of the result. A waiver is {check: DUTY, reason, owner, expires} in a list "waivers".

Exit codes: 0 no duty is broken; 1 a duty of the level of --fail-on is broken and not waived, or a waiver is expired or
needless; 2 the command line is wrong; 3 the server cannot start, or a file cannot be used; 4 undecided: nothing came
from the client, a scene could not be played to its end, or with --require-all-must a MUST was not exercised;
130 interrupted.
`;

/** Adds the options and the action of the subcommand. */
export function configure(command: Command): void {
  addExamples(
    command,
    `fleetbed conform client --command './my-client --server {server} --ca {ca} --dir {dir}'`,
    'fleetbed conform client --wait --advertise 192.0.2.10 --port 8443',
    `fleetbed conform client --command './my-client {server} {dir}' --scene abort --seed 7`,
    'fleetbed conform client --list --interval 30s',
  );
  addOptionRows(command, examineRows)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', help)
    .action(async (options: ExamineOptions) => {
      const modes = [options.command !== undefined, options.wait].filter(Boolean).length;
      if (modes > 1 || (modes === 0 && !options.list && !options.schema))
        command.error('error: give one of --command, --wait, --list and --schema');
      process.exitCode = await examineClient(options);
    });
}
