/** `--url`, by its old name `--base-url` too, which scripts still use. */
import { type Command, Option } from 'commander';
import * as values from '../option-values.ts';

/** The environment's name for the server. */
export const urlVariable = 'FLEETBED_URL';

/** `--url`; its value is `baseUrl`, as everywhere else in the code. */
export class UrlOption extends Option {
  constructor(description: string) {
    super('--url <url>', description);
    this.argParser(values.baseUrl);
  }

  override attributeName(): string {
    return 'baseUrl';
  }
}

/** Adds the option with its hidden old name. */
export function addUrlOption(command: Command, option: UrlOption): Command {
  const oldName = new Option('--base-url <url>').argParser(values.baseUrl).hideHelp();
  return command.addOption(option).addOption(oldName);
}
