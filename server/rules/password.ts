/** Which passwords are good enough for whom. */
import { charactersIn } from '../../fixtures/characters.ts';
import { limits } from '../../fixtures/contract/limits.ts';

/** Why the password cannot be the one of the user with this e-mail; nothing when it can. */
export function passwordProblem(password: string, email: string): string | undefined {
  if (charactersIn(password) < limits.passwordMinCharacters) {
    return `password: must have at least ${limits.passwordMinCharacters} characters`;
  }
  if (email.toLowerCase().includes(password.toLowerCase())) {
    return 'password: is too similar to the e-mail address';
  }
  return undefined;
}
