/** Pairs that a configuration may hold, and the pairs that a device reads. */
import { describeValue, expectJson, NotObservable } from '../target/expectations.ts';
import { isMap, type Members } from '../target/json-members.ts';
import { requireResponse } from './start-states.ts';
import type { SuiteDevice } from './suite-device.ts';

/** Names that the contract does not forbid. */
export const allowedNames = [
  'a name with spaces',
  'dots.and.more',
  '$dollar',
  'sla/sh',
  'ключ 鍵 🗝',
  'UPPER',
  'quote"and\\back',
  '0',
  '__proto__',
  'constructor',
];

/** Texts that a configuration value may be, such as JSON, line breaks and 1,000 characters. */
export const allowedTexts = [
  '0',
  'false',
  'null',
  ' ',
  'two\nlines',
  'æ 日本 🗝',
  '{"json":[1]}',
  'a'.repeat(1000),
];

/** Returns the pairs that the device reads; the cases of reading check the response itself. */
export async function readPairs(device: SuiteDevice): Promise<Members> {
  const response = await device.call('get-configuration');
  requireResponse('get-configuration', response, 200);
  const pairs = expectJson(response);
  if (!isMap(pairs)) throw new NotObservable(`the store was read as ${describeValue(pairs)}`);
  return pairs;
}
