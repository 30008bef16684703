/** Earlier names of options: scripts of others use them, so they stay, and help does not show them. */
import { type Command, Option } from 'commander';

/**
 * Adds earlier names to a command that has the options already.
 * @param names the option by its earlier name, both with dashes, such as `{'--control': '--control-url'}`
 */
export function addOldNames(command: Command, names: Readonly<Record<string, string>>): Command {
  for (const [oldName, name] of Object.entries(names)) {
    const option = command.options.find(({ long }) => long === name);
    if (!option) throw new Error(`${command.name()} has no option ${name}`);
    command.addOption(new OldName(oldName, option));
  }
  return command;
}

/** Sets the value of another option. */
class OldName extends Option {
  readonly #option: Option;

  constructor(oldName: string, option: Option) {
    const at = option.flags.search(/[<[]/);
    super(`${oldName} ${at < 0 ? '' : option.flags.slice(at)}`.trim());
    this.#option = option;
    this.hideHelp();
    // Headings of the help are in the order of the options, hidden ones among them.
    if (option.helpGroupHeading !== undefined) this.helpGroup(option.helpGroupHeading);
    if (option.parseArg) this.argParser(option.parseArg);
  }

  override attributeName(): string {
    return this.#option.attributeName();
  }
}
