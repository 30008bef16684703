/** The pairs in a configuration that was downloaded: of an artifact file, or of JSON. */
import { readArtifact } from '../../fixtures/formats/mender-artifact.ts';
import { type Members, membersOf } from './json-members.ts';

/** Name of the first entry of an artifact file, which is a tar file. */
const firstEntryOfArtifact = 'version';

/** Whether these are the bytes of an artifact file, from their beginning. */
export function isArtifactFile(bytes: Buffer): boolean {
  return bytes.subarray(0, firstEntryOfArtifact.length).toString('latin1') === firstEntryOfArtifact;
}

/** The pairs; undefined when the bytes are of neither form, since the contract names none. */
export async function pairsIn(bytes: Buffer): Promise<Members | undefined> {
  try {
    if (!isArtifactFile(bytes)) return membersOf(JSON.parse(bytes.toString('utf8')));
    const { payloads } = await readArtifact(chunks(bytes));
    return membersOf(payloads[0]?.metaData);
  } catch {
    return undefined;
  }
}

async function* chunks(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
