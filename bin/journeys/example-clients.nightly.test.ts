import { afterEach, describe, expect, it } from 'vitest';
import { examples, Trial } from '../testing/example-client.ts';

let trial: Trial;
afterEach(() => trial.close());

const download = { operation: 'download-artifact' };
const report = { operation: 'put-deployment-status' };
const updated = ['downloading 204', 'installing 204', 'success 204'];

describe.each(examples)('the example client in %s', { timeout: 120_000 }, (_name, command) => {
  async function start(...options: readonly string[]): Promise<void> {
    trial = await Trial.start(command, ['--auto-accept', ...options]);
    trial.startClient();
  }

  it('reports failure with a log after a wrong checksum, and does not try again', async () => {
    await start();
    await trial.fault(download, { kind: 'corrupted', atByte: 100_000 });
    await trial.deploy('release-2');
    await trial.untilReported('downloading 204', 'failure 204');
    await trial.control('/await?operation=put-deployment-log&status=204&after=0');
    await trial.untilPolledWith('initial');
    expect(await trial.ranges()).toEqual(['']);
    await trial.expectNoFinding();
  });

  it.each([
    ['downloading', ['downloading 409'], []],
    ['installing', ['downloading 204', 'installing 409'], ['']],
  ])('stops at 409 after an abort while %s, and goes on polling', async (at, reports, ranges) => {
    await start();
    await trial.fault(report, { kind: 'abort-deployment', at });
    await trial.deploy('release-2');
    await trial.untilReported(...reports);
    await trial.untilPolledWith('initial');
    expect(await trial.ranges()).toEqual(ranges);
    await trial.deploy('release-3');
    await trial.untilReported(...reports, ...updated);
    await trial.expectNoFinding();
  });

  it('takes a new token after a week, and is updated with it', async () => {
    await start();
    await trial.untilPolledWith('initial');
    await trial.control('/clock', { advanceSeconds: 8 * 86_400 });
    await trial.deploy('release-2');
    await trial.untilReported(...updated);
    const entries = await trial.entries();
    expect(entries.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(2);
    await trial.expectNoFinding();
  });

  it('continues a download by Range after it was killed in the middle', async () => {
    await start();
    await trial.fault(download, { kind: 'drip', bytesPerSecond: 300_000 });
    await trial.deploy('release-2');
    await expect.poll(() => trial.hasPart(), { timeout: 30_000 }).toBe(true);
    await trial.killClient();
    trial.startClient();
    await trial.untilReported('downloading 204', ...updated);
    expect(await trial.ranges()).toEqual(['', expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
    await trial.untilPolledWith('release-2');
    await trial.expectNoFinding();
  });

  it('never joins bytes of another place after a cut, and begins the file again', async () => {
    await start();
    await trial.fault(download, { kind: 'reset', afterBytes: 1_000_000 });
    await trial.fault({ ...download, nthCall: 2 }, { kind: 'shifted-range', claims: 'sent' });
    await trial.deploy('release-2');
    await trial.untilReported(...updated);
    expect(await trial.ranges()).toEqual(['', 'bytes=1000000-', '']);
    await trial.expectNoFinding();
  });

  it('repeats its final report after a restart until the server accepts it', async () => {
    await start();
    const headers = { 'Retry-After': '60' };
    await trial.fault({ ...report, nthCall: 3 }, { kind: 'answer', status: 503, headers });
    await trial.deploy('release-2');
    await trial.untilReported('downloading 204', 'installing 204', 'success 503');
    await trial.killClient();
    trial.startClient();
    await trial.untilReported('downloading 204', 'installing 204', 'success 503', 'success 204');
    expect(await trial.ranges()).toEqual(['']);
    await trial.untilPolledWith('release-2');
  });

  it('falls back to v1 on a server without v2, and is updated', async () => {
    await start('--dialect', 'open-source');
    await trial.deploy('release-2');
    await trial.untilReported(...updated);
    await trial.expectNoFinding();
  });
});
