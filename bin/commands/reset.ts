/** `fleetbed reset`: returns a running server, or one of its devices, to its start state. */
import type { Command } from 'commander';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp, unreachableText } from '../options/exit-code-help.ts';
import { deviceOption, jsonOption } from '../options/shared-options.ts';
import { type ExitCode, exitCodes } from '../output/exit-codes.ts';
import { createOutput } from '../output/output.ts';
import {
  addControlOptions,
  type ControlAccess,
  callControlForTenant,
} from '../server-access/control-listener.ts';

interface ResetOptions extends ControlAccess {
  readonly device?: string;
  readonly json?: boolean;
}

const codes = exitCodeHelp({
  pass: 'done',
  failed: 'the server refuses it, or knows no such device',
  setUp: unreachableText.controlListener,
});

const help = `
The start state is the state at the first start, or that of the world file that was loaded last.
${codes}`;

/** Adds the options and the action of `fleetbed reset`. */
export function configure(command: Command): void {
  addControlOptions(command)
    .addOption(deviceOption())
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(async (options: ResetOptions) => {
      process.exitCode = await resetServer(options);
    });
  addExamples(command, 'fleetbed reset', 'fleetbed reset --device 02:00:00:00:00:01');
}

const removedSentence = 'removed, as the start state does not contain it';

async function resetServer(options: ResetOptions): Promise<ExitCode> {
  const { device, json = false } = options;
  const { status, body } = await callControlForTenant(options, '/reset', {
    method: 'POST',
    json: device === undefined ? {} : { device },
  });
  const { device: outcome } = status === 200 ? ((await body.json()) as ResetResponse) : {};
  const output = createOutput(json);
  output.data({ reset: outcome ?? 'all' });
  if (!json && device === undefined) output.line('The server is in its start state.');
  else if (!json) output.line(`${device} is ${outcome === 'removed' ? removedSentence : 'reset'}.`);
  return exitCodes.pass;
}

interface ResetResponse {
  /** `restored` to the start state; `removed` for a device that the start state does not contain. */
  readonly device?: 'restored' | 'removed';
}
