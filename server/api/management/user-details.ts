/** Refusal details about users that several operations share. */

/** The refusal detail for an email address that is already in use. */
export const freeAddress = { path: 'body.email', expected: 'an unused email address' };
/** The refusal detail for a wrong current password. */
export const wrongPassword = {
  path: 'body.current_password',
  expected: 'the current password of the user',
};
