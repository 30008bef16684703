/** How many devices the tenant may accept, for users. */

import { inPath, refuse } from '../../http/refusal.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';
import { deviceLimit } from '../../tenants/device-limit.ts';

/** The one limit that practice knows by a name. */
const limitName = 'max_devices';

export const getDeviceLimit = defineEndpoint('get-device-limit', (_input, context) => {
  return { status: 200, body: { limit: deviceLimit(context) } };
});

export const getLimitByName = defineEndpoint('get-limit-by-name', ({ parameters }, context) => {
  if (parameters.name !== limitName) {
    return refuse.malformed(
      `there is no limit with this name; the only one is ${limitName}`,
      inPath('name', limitName),
    );
  }
  return { status: 200, body: { limit: deviceLimit(context) } };
});
