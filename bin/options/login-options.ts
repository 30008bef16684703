/** Who a command is at the management API: a login, or a user's token in its place. */
import { type Command, Option } from 'commander';
import * as values from './option-values.ts';
import { SecretOption, secretVariables } from './secret-option.ts';

/** What `addLoginOptions` adds; at most one of the two secrets. */
export interface LoginOptions {
  readonly email: string;
  readonly password?: string | undefined;
  readonly token?: string | undefined;
}

/** The user of the options, if they name one. */
export function userOf({ email, password, token }: LoginOptions) {
  if (token !== undefined) return { token };
  return password === undefined ? undefined : { email, password };
}

/** Both ways, for a sentence. */
export const loginWays = `--password (env: ${secretVariables.password}) or --token (env: ${secretVariables.userToken})`;

/** Adds them; where the environment holds both, or the other one, the command line wins. */
export function addLoginOptions(command: Command): Command {
  const { password, userToken } = secretVariables;
  return command
    .addOption(
      new Option('--email <email>', 'user who logs in with --password')
        .env('FLEETBED_EMAIL')
        .argParser(values.email)
        .default('admin@example.com'),
    )
    .addOption(
      new SecretOption('--password <password>', 'password of the user', { variable: password }),
    )
    .addOption(
      new SecretOption('--token <jwt>', 'token of a user, instead of a login', {
        variable: userToken,
      }),
    )
    .hook('preAction', () => keepOneLogin(command));
}

function keepOneLogin(command: Command): void {
  const [token, password] = ['token', 'password'].map((name) => command.getOptionValueSource(name));
  if (token === 'cli' && password === 'cli') {
    command.error(
      "error: option '--token <jwt>' cannot be used with option '--password <password>'",
    );
  }
  if (token === undefined || password === undefined) return;
  const outranked = password === 'cli' ? 'token' : 'password';
  command.setOptionValue(outranked, undefined);
}
