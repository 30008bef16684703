/** Links to artifact files that were followed once already, so that cases can vary how. */

import {
  expectEqual,
  expectJson,
  expectStatus,
  expectThat,
  expectUrl,
  shown,
} from '../suite/expectations.ts';
import type { Headers } from '../target/exchange.ts';
import { isMap, type Members } from '../target/json-members.ts';
import type { Answer } from '../target/target.ts';
import type { SampleName } from './sample-artifacts.ts';
import type { Stage } from './stage.ts';
import { acceptedDevice } from './start-states.ts';

/** A file, and the link by which it is loaded. */
export interface LinkedFile {
  readonly uri: string;
  readonly bytes: Buffer;
  /** The first answer to the link: the whole file. */
  readonly whole: Answer;
  /** Loads by the link with these headers, without a token. */
  readonly follow: (headers?: Headers) => Promise<Answer>;
}

/** What a device is told that asks for a link: every member that the answer has. */
export async function askedLink(stage: Stage, artifactId: string): Promise<[Members, Answer]> {
  const device = await acceptedDevice(stage);
  const answer = await device.call('get-artifact-link', { path: { id: artifactId } });
  expectStatus(answer, 200);
  const link = expectJson(answer);
  expectThat(isMap(link), 'an object', shown(link));
  return [link, answer];
}

/** A link to one of the samples. It works: the whole file has been loaded by it. */
export async function linkedSample(stage: Stage, sample: SampleName): Promise<LinkedFile> {
  const { id, bytes } = await stage.artifact(sample);
  return linkedFile(stage, { id, bytes });
}

/** A link to an artifact. It works: the whole file has been loaded by it. */
export async function linkedFile(
  stage: Stage,
  { id, bytes }: { readonly id: string; readonly bytes: Buffer },
): Promise<LinkedFile> {
  const [{ uri: told }] = await askedLink(stage, id);
  const uri = expectUrl('a link', typeof told === 'string' ? told : undefined);
  const follow: LinkedFile['follow'] = (headers = {}) =>
    stage.session.send({ method: 'GET', url: uri, headers });
  const whole = await follow();
  expectStatus(whole, 200);
  expectThat(whole.bytes.equals(bytes), 'the uploaded file', 'other bytes');
  return { uri, bytes, whole, follow };
}

/** Holds when the answer has 206 and the bytes of the file from `first` to before `end`. */
export function expectPart(
  { bytes }: Pick<LinkedFile, 'bytes'>,
  answer: Answer,
  [first, end]: readonly [number, number],
): void {
  expectStatus(answer, 206);
  const isThat = answer.bytes.equals(bytes.subarray(first, end));
  expectThat(isThat, `bytes ${first} to ${end - 1}`, `${answer.bytes.length} other bytes`);
}

/** Holds when the answer has 200 and the whole file. */
export function expectWhole({ bytes }: Pick<LinkedFile, 'bytes'>, answer: Answer): void {
  expectStatus(answer, 200);
  expectEqual('length', answer.bytes.length, bytes.length);
  expectThat(answer.bytes.equals(bytes), 'the whole file', 'other bytes');
}
