/** The options by which a command names its user of the management API: a login, or a token. */
import { type Command, Option } from 'commander';
import { secretVariables } from '../../fixtures/base/secret-variables.ts';
import * as values from './option-values.ts';
import { SecretOption } from './secret-option.ts';

/** The values of the options that `addLoginOptions` adds; at most one of the two secrets is set. */
export interface LoginOptions {
  readonly email: string;
  readonly password?: string | undefined;
  readonly token?: string | undefined;
}

/** Returns the user that the options name; undefined when they name none. */
export function userOf({ email, password, token }: LoginOptions) {
  if (token !== undefined) return { token };
  return password === undefined ? undefined : { email, password };
}

/** The options that name a user, as a part of a sentence. */
export const loginWays = `--password (env: ${secretVariables.password}) or --token (env: ${secretVariables.userToken})`;

/**
 * Adds the options. A secret on the command line overrides both environment variables; a token
 * overrides a password.
 */
export function addLoginOptions(command: Command): Command {
  const { password, userToken } = secretVariables;
  return command
    .addOption(
      new Option('--email <email>', 'user who logs in with --password')
        .env('FLEETBED_EMAIL')
        .argParser(values.email)
        .default('admin@example.com'),
    )
    .addOption(new SecretOption('--password <password>', 'password of the user', password))
    .addOption(new SecretOption('--token <jwt>', 'token of a user, instead of a login', userToken))
    .hook('preAction', () => keepOneLogin(command));
}

function keepOneLogin(command: Command): void {
  const [token, password] = ['token', 'password'].map((name) => command.getOptionValueSource(name));
  if (token === 'cli' && password === 'cli') {
    command.error("option '--token <jwt>' cannot be used with option '--password <password>'");
  }
  if (token === undefined || password === undefined) return;
  const outranked = password === 'cli' ? 'token' : 'password';
  command.setOptionValue(outranked, undefined);
}
