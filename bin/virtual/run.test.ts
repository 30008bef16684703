import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dataFolderPrefix } from './server-process.ts';
import { MINUTE_MS, runInVirtualTime, smallRun } from './testing/small-run.ts';

describe('a run in virtual time', () => {
  it('brings every device to its end, in agreement with the server', async () => {
    const { result, violations } = await runInVirtualTime(smallRun());
    expect(result.durationMs).toBe(120 * MINUTE_MS);
    expect(result.validity).toBe('not-judged');
    expect(result.reconciliation).toMatchObject({ checked: true, ok: true });
    expect(result.funnel).toMatchObject({ devices: 4, success: 4 });
    expect(violations).toEqual([]);
  });

  it('has the same event log for the same seed, and another log for another seed', async () => {
    const [one, again, other] = [
      await runInVirtualTime(smallRun()),
      await runInVirtualTime(smallRun()),
      await runInVirtualTime(smallRun({ seed: 'other' })),
    ];
    expect(again.log).toEqual(one.log);
    expect(again.result.devices).toEqual(one.result.devices);
    expect(other.log.sha256).not.toBe(one.log.sha256);
  });

  it('is reproducible with interleaving, delays and faults too', async () => {
    const virtualRun = smallRun(
      { behaviours: [{ name: 'crash-and-resume', weight: 1 }] },
      {
        isInterleaved: true,
        faults: [
          { name: 'response-lost', device: 0, exchange: 3 },
          { name: 'request-lost', device: 1, exchange: 5 },
          { name: 'power-loss', device: 2, exchange: 9, lastingMs: MINUTE_MS },
        ],
      },
    );
    const [one, again] = [await runInVirtualTime(virtualRun), await runInVirtualTime(virtualRun)];
    expect(again.log).toEqual(one.log);
    expect(one.violations).toEqual([]);
    const causes = one.result.errors.map(({ cause }) => cause);
    expect(causes).toContain('transport/ECONNRESET');
    expect(one.events).toContainEqual(
      expect.objectContaining({ kind: 'life', device: 2, state: 'off' }),
    );
  });

  it('has the same event log whether its RSA keys exist or must be generated', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fleetbed-rsa-pool-'));
    try {
      const virtualRun = smallRun({ keys: { rsa: 1, ecdsa: 0, ed25519: 0 }, rsaPool: { folder } });
      const [making, reading] = [
        await runInVirtualTime(virtualRun),
        await runInVirtualTime(virtualRun),
      ];
      expect(making.log).toEqual(reading.log);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('survives restarts of the server, during an exchange and between exchanges', async () => {
    const virtualRun = smallRun(
      {},
      {
        isInterleaved: true,
        faults: [{ name: 'server-restart', device: 1, exchange: 14, lastingMs: 20_000 }],
        restarts: [{ device: undefined, atMs: 30_000, lastingMs: 25_000 }],
      },
    );
    const [one, again] = [await runInVirtualTime(virtualRun), await runInVirtualTime(virtualRun)];
    expect(again.log).toEqual(one.log);
    expect(one.violations).toEqual([]);
    expect(one.result.funnel).toMatchObject({ devices: 4, success: 4 });
    const causes = one.result.errors.map(({ cause }) => cause);
    expect(causes).toEqual(
      expect.arrayContaining(['transport/ECONNREFUSED', 'transport/ECONNRESET']),
    );
  });

  it('keeps tokens and deployments across a restart, for which the user waits', async () => {
    const restarts = [0, 5 * MINUTE_MS, 119.9 * MINUTE_MS].map((atMs) => ({
      device: undefined,
      atMs,
      lastingMs: 20_000,
    }));
    const { result, violations } = await runInVirtualTime(smallRun({}, { restarts }));
    expect(violations).toEqual([]);
    expect(result.reconciliation).toMatchObject({ checked: true, ok: true });
    const authRequests = result.operations.find(
      ({ operation }) => operation === 'post-auth-request',
    );
    // Each device authenticates at first and after the reboot of its update, never because of a
    // restart.
    expect(authRequests?.responses['2xx']).toBe(8);
  });

  it('reports a status that the server loses in a restart', async () => {
    const notStored = { name: 'not-stored', device: 1, exchange: 4 } as const;
    const faults = [{ ...notStored, operation: 'put-deployment-status' }];
    const restarts = [{ device: undefined, atMs: 45 * MINUTE_MS, lastingMs: 1000 }];
    const { violations } = await runInVirtualTime(smallRun({}, { faults, restarts }));
    expect(violations).toContainEqual({
      invariant: 'lost-status',
      message: expect.stringMatching(/^device 1 reported success, but the server has /),
    });
  });

  it('removes the data folder of its server', async () => {
    const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith(dataFolderPrefix));
    const foldersBefore = new Set(folders());
    const restarts = [{ device: undefined, atMs: MINUTE_MS, lastingMs: 1000 }];
    await runInVirtualTime(smallRun({ durationMs: 2 * MINUTE_MS }, { restarts }));
    expect(folders().filter((name) => !foldersBefore.has(name))).toEqual([]);
  });

  it('restarts one device at the given time without affecting the others', async () => {
    const restarts = [{ device: 2, atMs: 45 * MINUTE_MS, lastingMs: 7 * MINUTE_MS }];
    const { events, violations } = await runInVirtualTime(smallRun({}, { restarts }));
    expect(violations).toEqual([]);
    const offs = events.filter((event) => event.kind === 'life' && event.state === 'off');
    expect(offs).toMatchObject([{ device: 2 }]);
  });

  it('deploys in phases, and an abort excludes the devices of later phases', async () => {
    const { result, events, violations } = await runInVirtualTime(
      smallRun({
        deploymentPhases: [{ batchPercent: 50 }, { afterMs: 60 * MINUTE_MS }],
        incidents: [{ name: 'abort-deployment', atMs: 40 * MINUTE_MS }],
      }),
    );
    expect(result.funnel).toMatchObject({ success: 2, idle: 2 });
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'exchange', operation: 'abort-deployment', status: 204 }),
    );
    expect(violations).toEqual([]);
  });

  it('has tokens that expire and are renewed within days', async () => {
    const { result } = await runInVirtualTime(
      smallRun({ durationMs: 8 * 24 * 60 * MINUTE_MS, pollIntervalMs: 360 * MINUTE_MS }),
    );
    const authRequests = result.operations.find(
      ({ operation }) => operation === 'post-auth-request',
    );
    // Each of four devices authenticates at first, after its reboot, and for a renewal after five
    // to six days.
    expect(authRequests?.responses['2xx']).toBe(12);
    expect(result.errors.filter(({ cause }) => cause !== 'status/401')).toEqual([]);
  });

  it('reports a status that the server acknowledged but does not have', async () => {
    const ackLost = { name: 'ack-lost', device: 1, exchange: 4 } as const;
    const { violations } = await runInVirtualTime(
      smallRun({}, { faults: [{ ...ackLost, operation: 'put-deployment-status' }] }),
    );
    expect(violations).toEqual([
      {
        invariant: 'lost-status',
        message: expect.stringMatching(/^device 1 reported success, but the server has \w+$/),
      },
    ]);
  });
});
