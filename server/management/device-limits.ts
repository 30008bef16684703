/** How many devices the tenant may accept, for users. */
import { deviceLimit } from '../device-limit.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { refuse } from '../http/refusal.ts';

/** The one limit that practice knows by a name. */
const limitName = 'max_devices';

export const getDeviceLimit = defineEndpoint('get-device-limit', (_input, context) => {
  return { status: 200, body: { limit: deviceLimit(context) } };
});

export const getLimitByName = defineEndpoint('get-limit-by-name', ({ parameters }, context) => {
  if (parameters.name !== limitName) {
    return refuse.malformed(`there is no limit with this name; the only one is ${limitName}`);
  }
  return { status: 200, body: { limit: deviceLimit(context) } };
});
