/** `--url`, which has one meaning in every command. */
import { type Command, Option } from 'commander';
import * as values from './option-values.ts';

/** The environment's name for the server. */
const urlVariable = 'FLEETBED_URL';

/** The option `--force` of a command that cleans up by a ledger. */
export function forceOption(): Option {
  return new Option(
    '--force',
    "use a URL that is not the ledger's, and strike what is not on the server from the ledger",
  );
}

/** Why a clean-up that found nothing of a ledger on a server has not struck it from the ledger. */
export function doubtSentence(baseUrl: string): string {
  return (
    `${baseUrl} knows nothing of what is left in the ledger, so the ledger was kept: ` +
    'it is another server, or was reset; in the latter case add --force'
  );
}

interface UrlOptionSettings {
  readonly description: string;
  /** Its value when nothing gives one. */
  readonly defaultUrl?: string;
  /** False where a file of an earlier run knows the server better than the environment. */
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
