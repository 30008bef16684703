/** Links to artifact files that were downloaded once, so that cases can vary the request. */

import type { Answer } from '../target/answer.ts';
import type { Headers } from '../target/exchange.ts';
import {
  expectEqual,
  expectJson,
  expectStatus,
  expectThat,
  expectUrl,
  shown,
} from '../target/expectations.ts';
import { isMap, type Members } from '../target/json-members.ts';
import type { SampleName } from './sample-artifacts.ts';
import { acceptedDevice, needAnswer } from './start-states.ts';
import type { TestContext } from './test-context.ts';

/** A file, and its download link. */
export interface LinkedFile {
  readonly uri: string;
  readonly bytes: Buffer;
  /** The first answer to the link: the whole file. */
  readonly whole: Answer;
  /** Downloads from the link with these headers, without a token. */
  readonly follow: (headers?: Headers) => Promise<Answer>;
}

/** Requests a link as the device and returns every member of the answer. */
export async function askedLink(
  context: TestContext,
  artifactId: string,
): Promise<[Members, Answer]> {
  const device = await acceptedDevice(context);
  const answer = await device.call('get-artifact-link', { path: { id: artifactId } });
  needAnswer('get-artifact-link', answer, 200);
  const link = expectJson(answer);
  expectThat(isMap(link), 'an object', shown(link));
  return [link, answer];
}

/** Returns a link to one of the samples, after downloading the whole file to verify the link. */
export async function linkedSample(context: TestContext, sample: SampleName): Promise<LinkedFile> {
  const { id, bytes } = await context.artifact(sample);
  return linkedFile(context, { id, bytes });
}

/** Returns a link to an artifact, after downloading the whole file to verify the link. */
export async function linkedFile(
  context: TestContext,
  { id, bytes }: { readonly id: string; readonly bytes: Buffer },
): Promise<LinkedFile> {
  const [{ uri: reported }] = await askedLink(context, id);
  const uri = expectUrl('a link', typeof reported === 'string' ? reported : undefined);
  const follow: LinkedFile['follow'] = (headers = {}) =>
    context.session.send({ method: 'GET', url: uri, headers });
  const whole = await follow();
  needAnswer('get-artifact-link', whole, 200);
  expectThat(whole.bytes.equals(bytes), 'the uploaded file', 'other bytes');
  return { uri, bytes, whole, follow };
}

/** Asserts that the answer is 206 with the bytes of the file from `first` to before `end`. */
export function expectPart(
  { bytes }: Pick<LinkedFile, 'bytes'>,
  answer: Answer,
  [first, end]: readonly [number, number],
): void {
  expectStatus(answer, 206);
  const isThat = answer.bytes.equals(bytes.subarray(first, end));
  expectThat(isThat, `bytes ${first} to ${end - 1}`, `${answer.bytes.length} other bytes`);
}

/** Asserts that the answer is 200 with the whole file. */
export function expectWhole({ bytes }: Pick<LinkedFile, 'bytes'>, answer: Answer): void {
  expectStatus(answer, 200);
  expectEqual('length', answer.bytes.length, bytes.length);
  expectThat(answer.bytes.equals(bytes), 'the whole file', 'other bytes');
}
