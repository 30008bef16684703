/** Cases: a larger artifact file downloaded in parts. Spec: Device deployments v1 */
import { createHash } from 'node:crypto';
import { expectPart, type LinkedFile, linkedFile } from '../../context/followed-link.ts';
import { ownArtifact } from '../../context/own-artifact.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { expectEqual, expectThat, NotObservable } from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';

/**
 * Bytes in the artifact: blocks of random bytes that differ only in their first eight. Shifted,
 * missing or repeated data is detected, and the file still fits into the script of a failure.
 */
const CONTENT_BYTES = 600_064;
const BLOCK_BYTES = 512;
const OWN_BYTES = 8;
const PART_BYTES = 150_000;
/** Offsets at which a download is cut: buffer sizes, tar blocks, and their neighbours. */
const cuts = [1, 511, 512, 4095, 4096, 4097, 16_383, 65_535, 65_536, 65_537, 524_288];

async function largeFile(context: TestContext): Promise<LinkedFile> {
  const commonBytes = context.random.bytes(BLOCK_BYTES - OWN_BYTES);
  const blocks = Array.from({ length: CONTENT_BYTES / BLOCK_BYTES }, () =>
    Buffer.concat([context.random.bytes(OWN_BYTES), commonBytes]),
  );
  return linkedFile(
    context,
    await ownArtifact(context, { content: Buffer.concat(blocks), compression: 'none' }),
  );
}

/** Returns the bytes of a part; other cases check that it is the requested part. */
function partIn(response: HttpResponse): Buffer {
  if (response.status !== 206) throw new NotObservable('the target does not answer 206');
  return response.bytes;
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const streaming = defineScenario({
  area: 'artifact-link',
  name: 'A larger file',
  start: 'a link to an artifact file of 600 kilobytes',
  effect: 'write',
  needs: ['user'],
  arrange: largeFile,
  cases: [
    {
      id: 'download-resumes-anywhere',
      title: 'A download that was cut off at any byte is completed by the rest.',
      requirements: ['link.range-open-end'],
      run: async (file) => {
        const { length } = file.bytes;
        for (const cut of [...cuts, length - 1]) {
          expectPart(file, await file.follow({ range: `bytes=${cut}-` }), [cut, length]);
        }
      },
    },
    {
      id: 'parts-in-a-row-make-the-file',
      title: 'Parts that are downloaded one after the other make up the file, with its digest.',
      requirements: ['link.parts-make-the-file'],
      run: async ({ bytes, follow }) => {
        const parts: Buffer[] = [];
        for (let firstPosition = 0; firstPosition < bytes.length; firstPosition += PART_BYTES) {
          const lastPosition = Math.min(firstPosition + PART_BYTES, bytes.length) - 1;
          parts.push(partIn(await follow({ range: `bytes=${firstPosition}-${lastPosition}` })));
        }
        expectEqual('digest', digest(Buffer.concat(parts)), digest(bytes));
      },
    },
    {
      id: 'parts-at-once-make-the-file',
      title: 'Two parts that are downloaded at the same time make up the file.',
      requirements: ['link.parts-make-the-file'],
      run: async ({ bytes, follow }) => {
        const ranges = ['bytes=0-299999', `bytes=300000-${bytes.length - 1}`];
        const halves = await Promise.all(ranges.map((range) => follow({ range })));
        const joinedFile = Buffer.concat(halves.map(partIn));
        expectThat(digest(joinedFile) === digest(bytes), 'the digest of the file', 'another one');
      },
    },
  ],
});

/** Spec: Device deployments v1, "Range" */
export const artifactLinkStreamingCases = streaming;
