import { describe, expect, it } from 'vitest';
import type { FleetPlan } from '../../../simulator/engine/simulate-fleet.ts';
import { planDefaults } from '../../../simulator/plan/plan.ts';
import { limitProblem, preflight } from './preflight.ts';

const plan: FleetPlan = {
  ...planDefaults,
  baseUrl: 'http://127.0.0.1:8080',
  devices: 20_000,
  keys: { rsa: 0, ecdsa: 0, ed25519: 1 },
  seed: 'x',
  pollIntervalMs: 1000,
  inventoryIntervalMs: 60_000,
  rampMs: 0,
  connect: true,
  behaviours: [{ name: 'steady', weight: 1 }],
  headerPrefix: 'X-SVC',
  requestTimeLimitMs: 5000,
};
const machine = { openFilesMax: 65_536, ports: 28_232 };

describe('the check of the machine before a run', () => {
  it('accepts what the machine allows, and what cannot be determined', () => {
    expect(limitProblem(plan, 1, machine)).toBeUndefined();
    const unknown = { openFilesMax: undefined, ports: undefined };
    expect(limitProblem({ ...plan, devices: 1_000_000 }, 1, unknown)).toBeUndefined();
    expect(limitProblem({ ...plan, connect: false }, 1, { ...machine, openFilesMax: 1024 })).toBe(
      undefined,
    );
  });

  it('states how many sockets the open-files limit allows, and the remedy', () => {
    const problem = limitProblem(plan, 1, { ...machine, openFilesMax: 10_356 });
    expect(problem).toBe(
      '20000 sockets need about 20356 open files, but the limit of a process is 10356: ' +
        '10000 sockets would work; raise the limit with ulimit -n, or spread the sockets with --processes 2.',
    );
    expect(limitProblem(plan, 2, { ...machine, openFilesMax: 10_356 })).toBeUndefined();
  });

  it('states how many sockets the ports allow, and the addresses needed', () => {
    const problem = limitProblem({ ...plan, devices: 50_000 }, 1, machine);
    expect(problem).toContain('27976 sockets would work; give 2 addresses with --source-addresses');
    const two = { sourceAddresses: ['127.0.0.2', '127.0.0.3'] };
    expect(limitProblem({ ...plan, devices: 50_000, ...two }, 1, machine)).toBeUndefined();
  });

  it('counts only cohorts and shards that open sockets', () => {
    const few = { ...machine, openFilesMax: 5356 };
    const cohorts = [
      { name: 'polling', weight: 3, connect: false },
      { name: 'connected', weight: 1 },
    ];
    expect(limitProblem({ ...plan, cohorts }, 1, few)).toBeUndefined();
    expect(limitProblem({ ...plan, shard: { index: 0, of: 4 } }, 1, few)).toBeUndefined();
    expect(limitProblem(plan, 1, few)).toContain('5000 sockets would work');
  });

  it('refuses a source address of another machine', async () => {
    const foreign = { ...plan, devices: 1, sourceAddresses: ['192.0.2.7'] };
    await expect(preflight(foreign, 1)).rejects.toThrow(
      '--source-addresses: 192.0.2.7 is not an address of this machine',
    );
    await preflight({ ...foreign, sourceAddresses: ['127.0.0.1'] }, 1);
  });
});
