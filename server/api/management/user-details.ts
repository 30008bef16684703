/** Details of refusals about users, which several operations share. */

/** The detail for an e-mail address that is already in use. */
export const freeAddress = { path: 'body.email', expected: 'an unused e-mail address' };
/** The detail of a password that is not the user's. */
export const wrongPassword = {
  path: 'body.current_password',
  expected: 'the current password of the user',
};
