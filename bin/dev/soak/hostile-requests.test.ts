import fc from 'fast-check';
import { expect, it } from 'vitest';
import { publish } from '../../../server/testing/test-artifacts.ts';
import { deploy } from '../../../server/testing/test-deployments.ts';
import { acceptedDevice } from '../../../server/testing/test-device.ts';
import { startTestServer } from '../../../server/testing/test-server.ts';
import { hostileRequests } from './hostile-requests.ts';
import { statusOf } from './wire.ts';

const REQUESTS = 2000;
const SEED = 20_261_121;

it(`${REQUESTS} hostile requests of seed ${SEED} get no 5xx and leave the server intact`, {
  timeout: 120_000,
}, async () => {
  const server = await startTestServer();
  const device = await acceptedDevice(server, 'insider');
  const artifact = await publish(server);
  const deployment = await deploy(server, [device]);
  const arbitrary = hostileRequests({
    headerPrefix: server.headerPrefix,
    deviceToken: device.token,
    userToken: server.adminToken,
    ids: [device.id, artifact, deployment],
  });
  const port = Number(new URL(server.baseUrl).port);
  const seen = new Map<number, number>();
  const problems: string[] = [];
  const requests = fc.sample(arbitrary, { seed: SEED, numRuns: REQUESTS }).values();
  const lane = async () => {
    for (const { operation, bytes } of requests) {
      const status = await statusOf(port, bytes);
      seen.set(status, (seen.get(status) ?? 0) + 1);
      if (status >= 500 || status < 0) {
        problems.push(`${status} ${operation}: ${bytes.toString('latin1').slice(0, 500)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  expect(problems).toEqual([]);
  // Requests must reach all stages: some are stopped by the token or shape check, some accepted.
  for (const status of [200, 400, 401, 404, 405, 415]) expect(seen.get(status)).toBeGreaterThan(0);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect((await server.call('count-devices', { token: server.adminToken })).status).toBe(200);
  await server.close();
});
