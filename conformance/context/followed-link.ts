/** Links to artifact files that were downloaded once, so that cases can vary the request. */
import type { Headers } from '../target/exchange.ts';
import {
  describeValue,
  expectEqual,
  expectJson,
  expectStatus,
  expectThat,
  expectUrl,
} from '../target/expectations.ts';
import { isMap, type Members } from '../target/json-members.ts';
import type { HttpResponse } from '../target/response.ts';
import type { SampleName } from './sample-artifacts.ts';
import { acceptedDevice, requireResponse } from './start-states.ts';
import type { TestContext } from './test-context.ts';

/** A file, and its download link. */
export interface LinkedFile {
  readonly uri: string;
  readonly bytes: Buffer;
  /** The first response to the link: the whole file. */
  readonly download: HttpResponse;
  /** Downloads from the link with these headers, without a token. */
  readonly follow: (headers?: Headers) => Promise<HttpResponse>;
}

/** Requests a link as the device and returns every member of the response. */
export async function askedLink(
  context: TestContext,
  artifactId: string,
): Promise<[Members, HttpResponse]> {
  const device = await acceptedDevice(context);
  const response = await device.call('get-artifact-link', { path: { id: artifactId } });
  requireResponse('get-artifact-link', response, 200);
  const link = expectJson(response);
  expectThat(isMap(link), 'an object', describeValue(link));
  return [link, response];
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
    context.client.send({ method: 'GET', url: uri, headers });
  const download = await follow();
  requireResponse('get-artifact-link', download, 200);
  expectThat(download.bytes.equals(bytes), 'the uploaded file', 'other bytes');
  return { uri, bytes, download, follow };
}

/** Asserts that the response is 206 with the bytes of the file from `first` to before `end`. */
export function expectPart(
  { bytes }: Pick<LinkedFile, 'bytes'>,
  response: HttpResponse,
  [start, end]: readonly [number, number],
): void {
  expectStatus(response, 206);
  const isThat = response.bytes.equals(bytes.subarray(start, end));
  expectThat(isThat, `bytes ${start} to ${end - 1}`, `${response.bytes.length} other bytes`);
}

/** Asserts that the response is 200 with the whole file. */
export function expectWhole({ bytes }: Pick<LinkedFile, 'bytes'>, response: HttpResponse): void {
  expectStatus(response, 200);
  expectEqual('length', response.bytes.length, bytes.length);
  expectThat(response.bytes.equals(bytes), 'the whole file', 'other bytes');
}
