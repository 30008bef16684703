/** Who accepts the fleet, in the words of today and of earlier versions. */
import type { LoginOptions } from '../login-options.ts';
import * as values from '../option-values.ts';
import { SecretOption, secretVariables } from '../secret-option.ts';

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
