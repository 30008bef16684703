/** `--url`, which has one meaning in every command. */
import { type Command, Option } from 'commander';
import * as values from './option-values.ts';

/** The environment variable with the URL of the server. */
const urlVariable = 'FLEETBED_URL';

/** The option `--force` of a command that cleans up by a ledger. */
export function forceOption(): Option {
  return new Option(
    '--force',
    'accept a URL other than that in the ledger, and drop from the ledger what the server does not have',
  );
}

/** Why a clean-up that found nothing of a ledger on a server keeps the ledger. */
export function doubtSentence(baseUrl: string): string {
  return (
    `${baseUrl} has nothing of what the ledger lists, so the ledger is kept: ` +
    'this is another server, or it was reset; if it was reset, add --force'
  );
}

interface UrlOptionSettings {
  readonly description: string;
  /** The value without option and variable. */
  readonly defaultUrl?: string;
  /**
   * False where a file of an earlier run names the server, and the environment must not override
   * it.
   */
  readonly isInEnvironment?: boolean;
}

/** Adds the option; its value is `url`. */
export function addUrlOption(
  command: Command,
  { description, defaultUrl, isInEnvironment = true }: UrlOptionSettings,
): Command {
  const option = new Option('--url <url>', description)
    .argParser(values.baseUrl)
    .default(defaultUrl);
  if (isInEnvironment) option.env(urlVariable);
  return command.addOption(option);
}
