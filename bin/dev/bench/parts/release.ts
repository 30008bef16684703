/** Deploys a release for the benchmark: a large artifact, of which a copy is kept in a file. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../../fixtures/base/clock.ts';
import { writeArtifact } from '../../../../fixtures/formats/mender-artifact-writer.ts';
import { adminClient } from '../../../../server/control/embedding/admin-client.ts';
import type { ServerReady } from '../../../server-access/ready.ts';
import type { BenchContext } from '../rounds.ts';
import { deviceType } from './exchanges.ts';

const BYTES_PER_MB = 1_000_000;
const MEGABYTES = 256;
const QUICK_MEGABYTES = 64;
const name = 'release-2';

/** A release that is deployed to all devices. */
export interface DeployedRelease {
  readonly deploymentId: string;
  /** Path of the uploaded artifact. */
  readonly file: string;
  readonly bytes: number;
  /** Deletes the artifact's local file. */
  remove(): Promise<void>;
}

/** Uploads the release and deploys it to all accepted devices. */
export async function deployRelease(
  { output, quick }: BenchContext,
  { baseUrl, adminToken }: ServerReady,
  megabytes = quick ? QUICK_MEGABYTES : MEGABYTES,
): Promise<DeployedRelease> {
  output.progress(`uploading an artifact of ${megabytes} MB`);
  const artifact = await writeArtifact({
    name,
    deviceTypes: [deviceType],
    payloadType: 'single-file',
    files: [{ name: 'image', content: Buffer.alloc(megabytes * BYTES_PER_MB, 7) }],
    modifiedMs: systemClock.now(),
    compression: 'none',
  });
  const admin = adminClient(baseUrl, adminToken);
  const form = new FormData();
  form.append('artifact', new Blob([Uint8Array.from(artifact)]), `${name}.mender`);
  await admin.call('upload-artifact', { form });
  const { headers } = await admin.call('create-deployment', {
    json: { name, artifact_name: name, all_devices: true },
  });
  const folder = await mkdtemp(join(tmpdir(), 'fleetbed-bench-'));
  const file = join(folder, 'image.mender');
  await writeFile(file, artifact);
  return {
    deploymentId: headers.get('location')?.replace(/^.*\//, '') ?? '',
    file,
    bytes: artifact.length,
    remove: () => rm(folder, { recursive: true }),
  };
}
