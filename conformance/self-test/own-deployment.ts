/** The relation between a device and the deployment that its request names, looked up as a user. */
import { jsonOf, listOf, tokenOf } from './alter.ts';
import type { ProxiedRequest, SendToTarget } from './defect.ts';
import { requestFor } from './requests.ts';
import { isObject } from './sent.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Relation of the deployment ID in a request to the calling device. `malformed`: not a UUID.
 * `unknown`: no such deployment. `foreign`: a deployment of other devices only. `own`: a deployment
 * of the device.
 */
export type DeploymentRelation = 'malformed' | 'unknown' | 'foreign' | 'own';

/** Returns the ID of the device that holds the request's token; empty when the token has none. */
export function callerOf(request: ProxiedRequest): string {
  const [, claims = ''] = tokenOf(request).split('.');
  const value = jsonOf({ headers: {}, body: Buffer.from(claims, 'base64url') });
  return isObject(value) && typeof value.sub === 'string' ? value.sub : '';
}

/** Returns the relation of the deployment in the request's path to its caller. */
export async function relationOf(
  request: ProxiedRequest,
  send: SendToTarget,
): Promise<DeploymentRelation> {
  const { id = '' } = request.parameters;
  if (!uuid.test(id)) return 'malformed';
  const call = { parameters: { id }, token: send.userToken };
  const { status } = await send(requestFor('get-deployment', call));
  if (status !== 200) return 'unknown';
  const deviceDeployments = listOf(await send(requestFor('list-deployment-devices', call)));
  const caller = callerOf(request);
  return deviceDeployments.some(
    (deviceDeployment) => isObject(deviceDeployment) && deviceDeployment.id === caller,
  )
    ? 'own'
    : 'foreign';
}
