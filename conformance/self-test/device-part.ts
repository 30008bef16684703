/** What the target knows of the deployment of which a device speaks, asked as a user. */
import { jsonOf, listOf, tokenOf } from './alter.ts';
import type { Ask, ProxiedRequest } from './defect.ts';
import { requestFor } from './requests.ts';
import { isObject } from './sent.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** How a deployment stands to the device that speaks of it: no id, nobody's, another's, its own. */
export type Relation = 'malformed' | 'unknown' | 'foreign' | 'own';

/** The id of the device that holds the token of the request; empty when it says none. */
export function callerOf(request: ProxiedRequest): string {
  const [, claims = ''] = tokenOf(request).split('.');
  const value = jsonOf({ headers: {}, body: Buffer.from(claims, 'base64url') });
  return isObject(value) && typeof value.sub === 'string' ? value.sub : '';
}

/** How the deployment in the path of the request stands to its caller. */
export async function relationOf(request: ProxiedRequest, ask: Ask): Promise<Relation> {
  const { id = '' } = request.parameters;
  if (!uuid.test(id)) return 'malformed';
  const call = { parameters: { id }, token: ask.userToken };
  const { status } = await ask(requestFor('get-deployment', call));
  if (status !== 200) return 'unknown';
  const parts = listOf(await ask(requestFor('list-deployment-devices', call)));
  const caller = callerOf(request);
  return parts.some((part) => isObject(part) && part.id === caller) ? 'own' : 'foreign';
}
