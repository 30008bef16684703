import { describe, expect, it } from 'vitest';
import { writeArtifact } from '../../fixtures/formats/mender-artifact.ts';
import { isArtifactFile, pairsIn } from './configuration-body.ts';

const metaData = { timezone: 'UTC' };

function artifact(): Promise<Buffer> {
  return writeArtifact({
    name: 'configuration-1',
    deviceTypes: ['board'],
    payloadType: 'mender-configure',
    metaData,
    modifiedMs: 0,
  });
}

describe('a downloaded configuration', () => {
  it('contains its pairs in the meta-data of an artifact file', async () => {
    const bytes = await artifact();
    expect([isArtifactFile(bytes), await pairsIn(bytes)]).toEqual([true, metaData]);
  });

  it('contains its pairs in a JSON object', async () => {
    expect(await pairsIn(Buffer.from('{"timezone":"UTC"}'))).toEqual(metaData);
  });

  it.each(['', 'timezone=UTC', 'version but no tar file'])(
    'has no pairs when its content is %j',
    async (text) => {
      expect(await pairsIn(Buffer.from(text))).toBeUndefined();
    },
  );

  it('contains no pairs when the artifact file is truncated', async () => {
    expect(await pairsIn((await artifact()).subarray(0, 2000))).toBeUndefined();
  });
});
