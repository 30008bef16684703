/** Rules for passwords of users. */
import { charactersIn } from '../../fixtures/base/characters.ts';
import { limits } from '../../fixtures/contract/limits.ts';

/**
 * Returns why a password is unacceptable for the user with this email address; undefined when it
 * is acceptable.
 */
export function passwordProblem(password: string, email: string): string | undefined {
  if (charactersIn(password) < limits.passwordMinCharacters) {
    return `password: must have at least ${limits.passwordMinCharacters} characters`;
  }
  if (email.toLowerCase().includes(password.toLowerCase())) {
    return 'password: is too similar to the email address';
  }
  return undefined;
}
