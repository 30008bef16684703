/** How a device writes its attributes, for the cases of the inventory. */
import type { SuiteDevice } from '../context/suite-device.ts';
import type { Answer } from '../target/answer.ts';

/** The two ways to write. */
export type Writing = 'patch-attributes' | 'put-attributes';

/** Sends the attributes as the JSON array that they are. */
export function writeAttributes(
  device: SuiteDevice,
  how: Writing,
  ...attributes: readonly unknown[]
): Promise<Answer> {
  return device.call(how, { body: attributes });
}
