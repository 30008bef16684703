/**
 * Cases: Range on the link to an artifact file.
 * Spec: Device deployments v1; RFC 9110, section 14
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import {
  expectPart,
  expectWhole,
  type LinkedFile,
  linkedSample,
} from '../../context/followed-link.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import { partsOf } from '../../target/byte-ranges.ts';
import {
  describeValue,
  expectEqual,
  expectStatus,
  expectThat,
  NotObservable,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';

/** Length of the file that is requested in parts. */
const SIZE = 17_408;

/** Satisfiable ranges, each with the offsets of its first byte and of the byte after its last. */
interface RangeRow {
  readonly id: string;
  readonly title: string;
  readonly requirement: RequirementId;
  readonly ranges: Readonly<Record<string, readonly [number, number]>>;
}

const satisfiable: readonly RangeRow[] = [
  {
    id: 'range-is-206',
    title: 'A Range with a first and a last byte is answered with 206 and these bytes.',
    requirement: 'link.range',
    ranges: {
      'bytes=1000-1999': [1000, 2000],
      'bytes=512-512': [512, 513],
      'bytes=17407-17407': [17_407, SIZE],
    },
  },
  {
    id: 'first-bytes-are-206',
    title: 'A Range that starts at byte 0 is answered with 206 and the first bytes.',
    requirement: 'link.range-first-bytes',
    ranges: { 'bytes=0-0': [0, 1], 'bytes=0-511': [0, 512], 'bytes=0-17407': [0, SIZE] },
  },
  {
    id: 'resumed-download-is-the-rest',
    title: 'A device that lost its connection resumes with an open Range and gets the rest.',
    requirement: 'link.range-open-end',
    ranges: { 'bytes=16384-': [16_384, SIZE], 'bytes=1-': [1, SIZE], 'bytes=0-': [0, SIZE] },
  },
  {
    id: 'suffix-is-the-last-bytes',
    title: 'A suffix Range is answered with that many of the last bytes.',
    requirement: 'link.range-suffix',
    ranges: {
      'bytes=-1': [17_407, SIZE],
      'bytes=-512': [16_896, SIZE],
      'bytes=-5000': [12_408, SIZE],
      'bytes=-17407': [1, SIZE],
    },
  },
  {
    id: 'long-suffix-is-everything',
    title: 'A suffix Range as long as the file, or longer, is answered with the whole file.',
    requirement: 'link.range-long-suffix',
    ranges: { 'bytes=-17408': [0, SIZE], 'bytes=-999999': [0, SIZE] },
  },
  {
    id: 'range-past-the-end-is-the-rest',
    title: 'A Range whose last byte is past the end is answered with the rest of the file.',
    requirement: 'link.range-past-the-end',
    ranges: { 'bytes=17000-17408': [17_000, SIZE], 'bytes=100-999999': [100, SIZE] },
  },
];

function rangeCase({ id, title, requirement, ranges }: RangeRow): JudgingCase<LinkedFile> {
  return {
    id,
    title,
    requirements: [requirement],
    run: async (file) => {
      for (const [range, part] of Object.entries(ranges)) {
        expectPart(file, await file.follow({ range }), part);
      }
    },
  };
}

/** Ranges that start past the end. */
const unsatisfiable = ['bytes=17408-', 'bytes=999999-', 'bytes=20000-20001'];
const malformedRanges = ['bytes=b-c', 'bytes=5', 'bytes', 'bytes=9-5', 'bytes=--1'];

/** Asserts that the response is not a partial one: it is the whole file or one of the refusals. */
function expectNoPart(
  file: LinkedFile,
  response: HttpResponse,
  ...refusals: readonly number[]
): void {
  if (response.status === 200) expectWhole(file, response);
  else expectStatus(response, 200, ...refusals);
}

async function requestPastTheEnd({ follow }: LinkedFile): Promise<HttpResponse> {
  const response = await follow({ range: 'bytes=17408-' });
  if (response.status !== 416) throw new NotObservable('the target does not answer 416');
  return response;
}

const ranges = defineScenario({
  area: 'artifact-link',
  name: 'Parts of the file',
  start: 'a link from which the file was downloaded, 17408 bytes long',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => linkedSample(context, 'plain'),
  cases: [
    ...satisfiable.map(rangeCase),
    {
      id: 'part-says-which-it-is',
      title: 'The Content-Range of a 206 names its bytes and the length of the file.',
      requirements: ['link.content-range'],
      run: async ({ bytes, follow }) => {
        for (const { ranges } of satisfiable) {
          const [range = ''] = Object.keys(ranges);
          const part = await follow({ range });
          if (part.status !== 206) throw new NotObservable('the target does not answer 206');
          const stated = part.headers['content-range'];
          const [, from, to, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(stated ?? '') ?? [];
          // Other cases check that it is the requested part.
          const isStated = bytes.subarray(Number(from), Number(to) + 1).equals(part.bytes);
          const expected = `the place of the ${part.bytes.length} bytes of ${range} among ${SIZE}`;
          expectThat(isStated && Number(size) === SIZE, expected, describeValue(stated));
        }
      },
    },
    {
      id: 'unsatisfiable-range-is-no-part',
      title: 'A Range that starts past the end is answered with 416, or with the whole file.',
      requirements: ['link.range-unsatisfiable'],
      run: async (file) => {
        for (const range of unsatisfiable) {
          expectNoPart(file, await file.follow({ range }), 416);
        }
      },
    },
    {
      id: 'unsatisfiable-range-is-416',
      title: 'A Range that starts past the end, or has no byte, is answered with 416.',
      requirements: ['link.range-unsatisfiable-is-416'],
      run: async ({ follow }) => {
        for (const range of unsatisfiable) expectStatus(await follow({ range }), 416);
      },
    },
    {
      id: 'refused-range-tells-the-length',
      title: 'The Content-Range of a 416 gives the length of the file.',
      requirements: ['link.unsatisfied-length'],
      run: async (file) => {
        const { headers } = await requestPastTheEnd(file);
        expectEqual('Content-Range', headers['content-range'], `bytes */${SIZE}`);
      },
    },
    {
      id: 'several-ranges-are-right',
      title: 'Several ranges are answered with these parts, one part over all, or the whole file.',
      requirements: ['link.several-ranges'],
      run: async (file) => {
        const response = await file.follow({ range: 'bytes=0-99,1000-1099,-100' });
        expectStatus(response, 200, 206);
        if (response.status === 200) return expectWhole(file, response);
        for (const { firstPosition, bytes } of partsOf(response)) {
          const expected = file.bytes.subarray(firstPosition, firstPosition + bytes.length);
          expectThat(bytes.equals(expected), `the bytes from ${firstPosition} on`, 'other bytes');
        }
      },
    },
    {
      id: 'unknown-unit-is-ignored',
      title: 'A Range in a unit other than bytes is ignored: 200 and the whole file.',
      requirements: ['link.unknown-range-unit'],
      run: async (file) => expectWhole(file, await file.follow({ range: 'lines=0-9' })),
    },
    {
      id: 'malformed-range-is-no-part',
      title: 'A malformed Range is ignored, or refused with 400 or 416.',
      requirements: ['link.malformed-range'],
      run: async (file) => {
        for (const range of malformedRanges) {
          expectNoPart(file, await file.follow({ range }), 400, 416);
        }
      },
    },
  ],
});

/** Spec: Device deployments v1, "supports the request headers Range" */
export const artifactLinkRangeCases = ranges;
