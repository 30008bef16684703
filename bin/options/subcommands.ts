/** Subcommands of commands that also have their own options and action. */
import type { Command } from 'commander';

/** A subcommand by name; its file is loaded when it is called. */
export type Subcommands = Readonly<
  Record<
    string,
    {
      readonly summary: string;
      readonly load: () => Promise<{ readonly configure: (command: Command) => void }>;
    }
  >
>;

/** Adds the subcommands; options after a name belong to the subcommand. */
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
