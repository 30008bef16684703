/** The pairs in a downloaded configuration: an artifact file or JSON. */
import { readArtifact } from '../../fixtures/formats/mender-artifact.ts';
import { type Members, membersOf } from './json-members.ts';

/** Name of the first entry of an artifact file, which is a tar file. */
const firstEntryOfArtifact = 'version';

/** Returns true when these are the first bytes of an artifact file. */
export function isArtifactFile(bytes: Buffer): boolean {
  return bytes.subarray(0, firstEntryOfArtifact.length).toString('latin1') === firstEntryOfArtifact;
}

/** Returns the pairs; undefined for any other format, since the contract does not name one. */
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
