/** Adds subcommands to commands that also have their own options and action. */
import type { Command } from 'commander';

/** Loaders of subcommands by name; a subcommand's file is loaded when it is called. */
export type Subcommands = Readonly<
  Record<
    string,
    {
      readonly summary: string;
      readonly load: () => Promise<{ readonly configure: (command: Command) => void }>;
    }
  >
>;

/** Adds the subcommands. Options after the name of a subcommand belong to that subcommand. */
export function addSubcommands(command: Command, subcommands: Subcommands): void {
  command.helpCommand(false);
  for (const [name, { summary }] of Object.entries(subcommands)) {
    command.command(name).description(summary).allowExcessArguments(false);
  }
  command.hook('preSubcommand', async (_, subcommand) => {
    const loaded = await subcommands[subcommand.name()]?.load();
    loaded?.configure(subcommand);
  });
}
