/** Malformed IDs, for the cases of every operation with an artifact in its path. */

/** IDs that no artifact can have, because they are not UUIDs. */
export const malformedIds = {
  'a word': 'no-such-form',
  'a number': '7',
  'a UUID that is too short': '0f4a1c52-6f0e-4d4b-9d51-0e9a8f0c7b1',
  'a UUID with a letter beyond f': '0f4a1c52-6f0e-4d4b-9d51-0e9a8f0c7b1g',
};
