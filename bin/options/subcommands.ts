/** Adds subcommands to commands that also have their own options and action. */
import type { Command } from 'commander';
import { editDistance, nearestOf } from '../../fixtures/base/nearest.ts';

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

/** Subcommands whose options are not loaded yet, each with the function that loads them. */
const unloaded = new WeakMap<Command, () => Promise<void>>();

/** Loads the options of a subcommand, if that has not happened yet. */
export async function loadOptions(subcommand: Command): Promise<void> {
  const load = unloaded.get(subcommand);
  unloaded.delete(subcommand);
  await load?.();
}

/** Adds the subcommands. Options after the name of a subcommand belong to that subcommand. */
export function addSubcommands(command: Command, subcommands: Subcommands): void {
  command.helpCommand(false);
  for (const [name, { summary, load }] of Object.entries(subcommands)) {
    const subcommand = command.command(name).description(summary).allowExcessArguments(false);
    unloaded.set(subcommand, async () => (await load()).configure(subcommand));
  }
  command.hook('preSubcommand', (_, subcommand) => loadOptions(subcommand));
  suggestNames(command);
}

/** The letters by which a mistyped name may differ from the name that was meant. */
const MISTYPED_MAX = 2;

/** Returns the end of an error that names what was probably meant, or nothing. */
export function didYouMean(word: string, known: readonly string[], prefix = ''): string {
  const [name = ''] = nearestOf(word, known);
  return editDistance(word, name) > MISTYPED_MAX ? '' : `\n(Did you mean ${prefix}${name}?)`;
}

/** Returns the end of a sentence that names the subcommand that was probably meant, or nothing. */
export function subcommandHint(command: Command, word: string): string {
  const names = command.commands.map((each) => each.name());
  return didYouMean(word, names, `${command.name()} `);
}

/** Adds the hint to the error about a first argument that the command does not accept. */
function suggestNames(command: Command): void {
  const { outputError = () => undefined } = command.configureOutput();
  command.configureOutput({
    outputError: (text, write) => {
      const [given = ''] = command.args;
      const hint = text.includes('too many arguments') ? subcommandHint(command, given) : '';
      outputError(`${text.trimEnd()}${hint}\n`, write);
    },
  });
}
