/** Details of refusals about users, which several operations share. */

/** The detail of an address that somebody has. */
export const freeAddress = { path: 'body.email', expected: 'an address that nobody uses' };
/** The detail of a password that is not the user's. */
export const wrongPassword = {
  path: 'body.current_password',
  expected: 'the current password of the user',
};
