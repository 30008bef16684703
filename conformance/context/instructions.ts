/** What a device was told of its next deployment, read with as little trust as possible. */

import { isObject } from '../../fixtures/json.ts';
import type { Answer } from '../target/answer.ts';
import { NotObservable } from '../target/expectations.ts';
import type { AskingForm } from './asking.ts';
import {
  type DeviceInDeployment,
  factoryProvides,
  needStatus,
  pendingDeployment,
  StartStateMissed,
} from './start-states.ts';
import type { TestContext } from './test-context.ts';

/** A device with the answer by which it was offered its deployment. */
export interface Instructed extends DeviceInDeployment {
  readonly answer: Answer;
}

/** A device that has been offered a deployment in that form; the body is still to be judged. */
export async function instructedBy(
  form: AskingForm,
  context: TestContext,
  arrange: (context: TestContext) => Promise<DeviceInDeployment> = pendingDeployment,
): Promise<Instructed> {
  const arranged = await arrange(context);
  const answer = await form.ask(arranged.device, factoryProvides);
  needStatus('an offered update', answer, 200);
  return { ...arranged, answer };
}

/** The instructions as a JSON object. Throws a StartStateMissed when they are none. */
export function needInstructions(answer: Answer): Readonly<Record<string, unknown>> {
  const body = objectIn(answer.text);
  if (body) return body;
  throw new StartStateMissed('instructions', 'the body of the answer is not a JSON object');
}

/** The value of a field, by names joined by dots; NotObservable when there is nothing it is in. */
export function fieldIn(object: Readonly<Record<string, unknown>>, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, step) => {
    if (isObject(inner)) return inner[step];
    throw new NotObservable(`there is no object that could hold ${path}`);
  }, object);
}

/** The text of a field; NotObservable when it holds none, which another case judges. */
export function textIn(object: Readonly<Record<string, unknown>>, path: string): string {
  const value = fieldIn(object, path);
  if (typeof value === 'string') return value;
  throw new NotObservable(`${path} is not a string`);
}

/** True when the answer offers a deployment, whichever it may be. */
export function offersAny({ status, text }: Answer): boolean {
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
