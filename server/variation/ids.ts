/**
 * Other formats of opaque IDs: of requests, and of deployments in v2 of the device API. Each format
 * can be decoded without state.
 */
import { isObject } from '../../fixtures/base/json.ts';
import type { Random } from '../../fixtures/base/random.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { changedAt } from './paths.ts';

/** A format in which an ID is written instead of as a UUID. */
export type IdShape = 'capitals' | 'no-dashes' | 'base64url';
export const idShapes = ['capitals', 'no-dashes', 'base64url'] as const satisfies IdShape[];

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/**
 * Matches 16 bytes in base64url. The last character has four zero bits, so each ID has exactly one
 * spelling.
 */
const base64url = /^[\w-]{21}[AQgw]$/;

const writers: Readonly<Record<IdShape, (id: string) => string>> = {
  capitals: (id) => id.toUpperCase(),
  'no-dashes': (id) => id.replaceAll('-', ''),
  base64url: (id) => Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url'),
};

/** Returns the body with its deployment IDs in the given format. */
export function withReshapedIds(operation: Operation | undefined, body: unknown, shape: IdShape) {
  const reshape = (id: unknown): unknown =>
    typeof id === 'string' && uuid.test(id) ? writers[shape](id) : id;
  const paths = operation?.response?.deploymentIds ?? [];
  return isObject(body)
    ? paths.reduce((so, path) => changedAt(so, path, reshape), body as unknown)
    : body;
}

/** Returns the path parameters with the deployment ID in the store's format. */
export function readParameters(
  operation: Operation,
  parameters: Readonly<Record<string, string>>,
): Record<string, string> {
  const { id, ...otherParameters } = parameters;
  if (id === undefined || !operation.takesDeploymentId) return { ...parameters };
  return { ...otherParameters, id: readId(id) };
}

/** Returns the UUID of an ID in any format. Other texts are returned unchanged. */
export function readId(text: string): string {
  if (/^[0-9A-Fa-f-]{36}$/.test(text)) return text.toLowerCase();
  const hex = base64url.test(text) ? Buffer.from(text, 'base64url').toString('hex') : text;
  if (!/^[0-9a-f]{32}$/.test(hex)) return text;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Returns a request ID in a random format. Its characters need no escape anywhere. */
export function requestIdFrom(id: string, random: Random): string {
  const shape = random.pick([...idShapes, 'prefixed', 'decimal'] as const);
  if (shape === 'prefixed') return `req_${writers.base64url(id)}~0`;
  if (shape === 'decimal') return BigInt(`0x${writers['no-dashes'](id)}`).toString();
  return writers[shape](id);
}
