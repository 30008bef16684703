import { describe, expect, it } from 'vitest';
import { clockStartingAt } from '../../fixtures/base/clock.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { startTestServer, type TestServer } from '../../server/testing/test-server.ts';
import { wholeRun } from '../testing/whole-run.ts';

const RUN_MAX_MS = 400_000;
const deprecated = (Object.values(managementOperations) as Operation[])
  .filter((operation) => operation.deprecated)
  .map(({ id }) => id);

/** Records all later requests to the server, by operation, until the server ends. */
async function watch({ controlUrl, controlToken }: TestServer) {
  const headers = { Authorization: `Bearer ${controlToken}` };
  const events = await fetch(`${controlUrl}/events`, { headers });
  const text = events.text();
  return {
    operations: async () =>
      new Set([...(await text).matchAll(/"operation":"([^"]+)"/g)].map(([, id]) => id)),
  };
}

describe('suite and fleet on an arbitrary date', () => {
  it.each(['2019-06-01', '2026-11-21', '2027-08-24', '2027-08-25', '2038-01-20'])(
    'pass on %s, and use no deprecated call',
    { timeout: RUN_MAX_MS },
    async (date) => {
      const clock = clockStartingAt(Date.parse(date));
      const server = await startTestServer({ clock });
      const asked = await watch(server);
      const run = await wholeRun(server, 'every date');
      await server.close();
      expect(run).toEqual({ ended: 'settled', troubles: [], outcome: 'pass' });
      const operations = await asked.operations();
      expect(operations.size).toBeGreaterThan(30);
      expect(deprecated.filter((id) => operations.has(id))).toEqual([]);
    },
  );
});
