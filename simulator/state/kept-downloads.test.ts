import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { beginDeployment } from '../device/device.ts';
import { deviceOf } from '../testing/client-fixture.ts';
import { DownloadFolder } from './kept-downloads.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-downloads-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const progress = { receivedBytes: 0, totalBytes: 4000, validator: '"one"' };

function deploymentInProgress(index = 0) {
  const device = { ...deviceOf(), index, deployments: [] };
  return { device, deployment: beginDeployment(device, 'deployment-1', 'release-2') };
}

/** Stores a piece of this many bytes for a device, like a simulator that then ends. */
function keepDownload(
  subject: ReturnType<typeof deploymentInProgress>,
  bytes: number,
  keptMaxBytes?: number,
) {
  const downloads = new DownloadFolder(folder, [subject.device], keptMaxBytes);
  const file = downloads.open(subject.device, subject.deployment);
  file.append(Buffer.alloc(bytes, 7), progress);
  file.close();
  return downloads;
}

async function reopened({ device, deployment }: ReturnType<typeof deploymentInProgress>) {
  const file = new DownloadFolder(folder, [device]).open(device, deployment);
  const chunks: Buffer[] = [];
  if (file.progress) for await (const chunk of file.chunks()) chunks.push(chunk);
  file.close();
  return { progress: file.progress, bytes: Buffer.concat(chunks) };
}

describe('downloads that outlive their simulator', () => {
  it('resume after the last byte written, even after a partial write', async () => {
    const subject = deploymentInProgress();
    keepDownload(subject, 3000);
    expect(await reopened(subject)).toEqual({
      progress: { ...progress, receivedBytes: 3000 },
      bytes: Buffer.alloc(3000, 7),
    });
    const path = join(folder, '0');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    truncateSync(path, statSync(path).size - 1);
    expect((await reopened(subject)).progress?.receivedBytes).toBe(2999);
  });

  it.each(['', '{"deploymentId":"depl', 'x\n1234', '{"deploymentId":"another"}\n1234'])(
    'start again when the file contains %j',
    async (content) => {
      writeFileSync(join(folder, '0'), content);
      expect((await reopened(deploymentInProgress())).progress).toBeUndefined();
    },
  );

  it('are deleted beyond the total limit and when a device has finished', async () => {
    const [first, second] = [deploymentInProgress(0), deploymentInProgress(1)];
    const downloads = new DownloadFolder(folder, [first.device, second.device], 5000);
    for (const { device, deployment } of [first, second]) {
      const file = downloads.open(device, deployment);
      for (let chunk = 0; chunk < 3; chunk++) file.append(Buffer.alloc(1000), progress);
      file.close();
    }
    expect(readdirSync(folder)).toEqual(['0']);
    downloads.forget(first.device);
    expect(readdirSync(folder)).toEqual([]);
    keepDownload(second, 3000);
    second.deployment.state = 'aborted';
    new DownloadFolder(folder, [second.device]);
    expect(readdirSync(folder)).toEqual([]);
  });
});
