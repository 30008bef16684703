/** `fleetbed snapshot`: saves and restores named states of a running server. */
import type { Command } from 'commander';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp, unreachableText } from '../options/exit-code-help.ts';
import * as values from '../options/option-values.ts';
import { jsonOption } from '../options/shared-options.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { createOutput } from '../output/output.ts';
import {
  addControlOptions,
  type ControlAccess,
  callControlForTenant,
} from '../server-access/control-listener.ts';

interface SnapshotOptions extends ControlAccess {
  readonly json?: boolean;
}

interface ShownSnapshot {
  readonly name: string;
  /** Time by the server's clock: ISO 8601 in UTC. */
  readonly takenAt: string;
}

const exits = exitCodeHelp({
  pass: 'done',
  failed: 'the server refuses it, or has no such snapshot',
  setUp: unreachableText.controlListener,
});

const help = `
A snapshot has all devices, artifacts and deployments of a tenant. The server keeps it in memory.
${exits}`;

/** The subcommands on one snapshot, each with its request and the word for its result. */
const snapshotCommands = {
  save: {
    summary: 'save the state under a name; replaces a snapshot of that name',
    method: 'PUT',
    below: '',
    done: 'saved',
  },
  restore: {
    summary: 'return to a saved state',
    method: 'POST',
    below: '/restore',
    done: 'restored',
  },
  delete: { summary: 'delete a saved state', method: 'DELETE', below: '', done: 'deleted' },
} as const;

/** Adds the subcommands of `fleetbed snapshot` with their actions. */
export function configure(command: Command): void {
  command.addHelpText('after', help);
  for (const [name, { summary, method, below, done }] of Object.entries(snapshotCommands)) {
    const subcommand = addControlOptions(command.command(name).description(summary))
      .allowExcessArguments(false)
      .argument('<name>', 'name of the snapshot', values.nonEmptyText)
      .addOption(jsonOption())
      .addHelpText('after', exits)
      .action(async (snapshot: string, options: SnapshotOptions) => {
        await callControlForTenant(options, `/snapshots/${encodeURIComponent(snapshot)}${below}`, {
          method,
        });
        const output = createOutput(options.json ?? false);
        output.data({ [done]: snapshot });
        if (!output.json) output.line(`${snapshot} is ${done}.`);
        process.exitCode = exitCodes.pass;
      });
    addExamples(subcommand, `fleetbed snapshot ${name} before-update`);
  }
  const list = addControlOptions(command.command('list').description('list the snapshots'))
    .allowExcessArguments(false)
    .addOption(jsonOption())
    .addHelpText('after', exits)
    .action(async (options: SnapshotOptions) => {
      const { body } = await callControlForTenant(options, '/snapshots', { method: 'GET' });
      const snapshots = (await body.json()) as readonly ShownSnapshot[];
      const output = createOutput(options.json ?? false);
      output.data(snapshots);
      if (!output.json && snapshots.length === 0) output.line('There are no snapshots.');
      if (!output.json)
        for (const { name, takenAt } of snapshots) output.line(`${takenAt}  ${name}`);
      process.exitCode = exitCodes.pass;
    });
  addExamples(list, 'fleetbed snapshot list', 'fleetbed snapshot list --json');
  addExamples(
    command,
    'fleetbed snapshot save before-update',
    'fleetbed snapshot restore before-update',
  );
}
