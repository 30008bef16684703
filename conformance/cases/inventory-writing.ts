/** Sends attributes as a device, for the inventory cases. */
import type { SuiteDevice } from '../context/suite-device.ts';
import type { Answer } from '../target/answer.ts';

/** The two operations that write. */
export type WriteOperation = 'patch-attributes' | 'put-attributes';

/** Sends the attributes as a JSON array. */
export function writeAttributes(
  device: SuiteDevice,
  how: WriteOperation,
  ...attributes: readonly unknown[]
): Promise<Answer> {
  return device.call(how, { body: attributes });
}
