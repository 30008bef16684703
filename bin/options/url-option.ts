/** The option `--url`, which has the same meaning in every command. */
import { type Command, Option } from 'commander';
import * as values from './option-values.ts';

/** The environment variable for the URL of the server. */
const urlVariable = 'FLEETBED_URL';

/** Returns the option `--force` of commands that clean up by a ledger. */
export function forceOption(): Option {
  return new Option(
    '--force',
    'accept a URL other than that in the ledger, and remove from the ledger what the server does not have',
  );
}

/**
 * Returns the sentence for a cleanup that found none of the ledger's resources on the server and
 * therefore keeps the ledger.
 */
export function emptyLedgerSentence(baseUrl: string): string {
  return (
    `${baseUrl} has none of the resources in the ledger, so the ledger is kept: ` +
    'this is another server, or it was reset; after a reset, add --force'
  );
}

interface UrlOptionSettings {
  readonly description: string;
  /** The default when neither the option nor the variable is set. */
  readonly defaultUrl?: string;
  /** False when a file of an earlier run names the server: the environment must not override it. */
  readonly isInEnvironment?: boolean;
}

/** Returns the option `--url`, which the environment does not set. */
export function urlOption(description: string, defaultUrl?: string): Option {
  return new Option('--url <url>', description).argParser(values.baseUrl).default(defaultUrl);
}

/** Adds the option `--url`, and unless excluded its environment variable. */
export function addUrlOption(
  command: Command,
  { description, defaultUrl, isInEnvironment = true }: UrlOptionSettings,
): Command {
  const option = urlOption(description, defaultUrl);
  if (isInEnvironment) option.env(urlVariable);
  return command.addOption(option);
}
