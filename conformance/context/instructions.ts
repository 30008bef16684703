/** Lenient reading of the instructions for a device's next deployment. */
import { isObject } from '../../fixtures/base/json.ts';
import { NotObservable } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import type { PollVariant } from './poll-variants.ts';
import {
  type DeviceInDeployment,
  factoryProvides,
  pendingDeployment,
  requireOffer,
  StartStateNotReached,
} from './start-states.ts';
import type { TestContext } from './test-context.ts';

/** A device with the response that offered its deployment. */
export interface InstructedDevice extends DeviceInDeployment {
  readonly response: HttpResponse;
}

/** Arranges a device that was offered a deployment by this variant of the request, without a check of the body. */
export async function instructedBy(
  variant: PollVariant,
  context: TestContext,
  arrange: (context: TestContext) => Promise<DeviceInDeployment> = pendingDeployment,
): Promise<InstructedDevice> {
  const arranged = await arrange(context);
  const response = await requireOffer(context, variant.operation, () =>
    variant.poll(arranged.device, factoryProvides),
  );
  return { ...arranged, response };
}

/** Returns the instructions as a JSON object. Throws a StartStateNotReached when they are not one. */
export function requireInstructions(response: HttpResponse): Readonly<Record<string, unknown>> {
  const body = objectIn(response.text);
  if (body) return body;
  throw new StartStateNotReached('instructions', 'the body of the response is not a JSON object');
}

/**
 * Returns the value of a field, by names joined by dots; throws NotObservable when its parent is
 * missing.
 */
export function fieldIn(object: Readonly<Record<string, unknown>>, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, step) => {
    if (isObject(inner)) return inner[step];
    throw new NotObservable(`no object can hold ${path}`);
  }, object);
}

/**
 * Returns the string in a field. Throws NotObservable when the value is not a string, since another
 * case checks the type.
 */
export function textIn(object: Readonly<Record<string, unknown>>, path: string): string {
  const value = fieldIn(object, path);
  if (typeof value === 'string') return value;
  throw new NotObservable(`${path} is not a string`);
}

/** Returns true when the response offers any deployment. */
export function offersAny({ status, text }: HttpResponse): boolean {
  return status === 200 && isObject(objectIn(text)?.artifact);
}

export { isObject };

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}
