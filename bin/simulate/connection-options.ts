/** Options of `simulate` and `worker` with names of earlier versions, which stay hidden in the help. */
import { type Command, Option } from 'commander';
import type { LoginOptions } from '../login-options.ts';
import * as values from '../option-values.ts';
import { SecretOption, secretVariables } from '../secret-option.ts';

/** An option whose value has another name than its flag: two flags may so be one option. */
export class RenamedOption extends Option {
  readonly #attribute: string;

  constructor(flags: string, description: string | undefined, attribute: string) {
    super(flags, description);
    this.#attribute = attribute;
  }

  override attributeName(): string {
    return this.#attribute;
  }
}

/** Adds `--url`, and `--base-url` as it was called before. */
export function addUrlOption(
  command: Command,
  { description, usual }: { readonly description: string; readonly usual?: string },
): Command {
  const url = new Option('--url <url>', description)
    .env('FLEETBED_URL')
    .argParser(values.baseUrl)
    .default(usual);
  const oldName = new RenamedOption('--base-url <url>', undefined, 'url').argParser(values.baseUrl);
  return command.addOption(url).addOption(oldName.hideHelp());
}

/** The user in one word, as earlier versions had it. */
export function acceptWithOption(): SecretOption {
  const option = new SecretOption('--accept-with <email:password>', 'login of the user', {
    variable: secretVariables.acceptWith,
    parse: values.credentials,
  });
  option.hideHelp();
  return option;
}

/** The user of the options: by a token, by a login, or in the one word of earlier versions. */
export function credentialsIn({
  email,
  password,
  token,
  acceptWith,
}: LoginOptions & { readonly acceptWith?: values.Credentials }) {
  if (token !== undefined) return { token };
  return password === undefined ? acceptWith : { email, password };
}
