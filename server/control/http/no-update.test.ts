import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dialectNames } from '../../../fixtures/contract/dialects.ts';
import type { NoUpdateExplanation } from '../../explain/no-update.ts';
import { publish } from '../../testing/test-artifacts.ts';
import {
  abort,
  board,
  deploy,
  nextRequests,
  type Provides,
  report,
} from '../../testing/test-deployments.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  decide,
  newDevice,
} from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control } from '../../testing/test-tenants.ts';

let server: TestServer;
let count = 0;

beforeAll(async () => {
  server = await startTestServer();
  await publish(server, { name: 'release-1' });
  await publish(server, { name: 'release-2', depends: { checksum: ['aaa', 'bbb'] } });
});

afterAll(() => server.close());

type PollOperation = keyof typeof nextRequests;
const pollOperations: readonly PollOperation[] = ['GET v1', 'POST v1', 'POST v2'];

async function explained(path: string): Promise<NoUpdateExplanation> {
  const { status, text } = await control(server, 'GET', `/explanations${path}`);
  if (status !== 200) throw new Error(`no explanation: ${status} ${text}`);
  return JSON.parse(text) as NoUpdateExplanation;
}

/** A new device that has polled once, without an update. */
async function pollingDevice(): Promise<AcceptedDevice> {
  count += 1;
  const device = await acceptedDevice(server, `asks-${count}`);
  expect((await nextRequests['GET v1'](server, device.token, board)).status).toBe(204);
  return device;
}

const aborted = async (device: AcceptedDevice) => abort(server, await deploy(server, [device]));

async function finished(device: AcceptedDevice, status = 'success') {
  const id = await deploy(server, [device]);
  await nextRequests['GET v1'](server, device.token, board);
  await report(server, device, { id, status });
}

async function abortedAlone(device: AcceptedDevice) {
  const otherDevice = await pollingDevice();
  await deploy(server, [device, otherDevice]);
  const parameters = { id: device.id };
  await server.call('abort-device-deployments', { token: server.adminToken, parameters });
}

async function finishedBefore(device: AcceptedDevice) {
  const otherDevice = await pollingDevice();
  const id = await deploy(server, [otherDevice, device], { max_devices: 1 });
  await nextRequests['GET v1'](server, otherDevice.token, board);
  await report(server, otherDevice, { id, status: 'success' });
}

async function full(device: AcceptedDevice) {
  const otherDevices = [await pollingDevice(), await pollingDevice()];
  await deploy(server, [...otherDevices, device], { max_devices: 2 });
  for (const { token } of otherDevices) await nextRequests['GET v1'](server, token, board);
}

const phases = [
  { batch_size: 50, start_ts: '2026-12-01T00:00:00.000Z' },
  { start_ts: '2026-12-02T00:00:00.000Z' },
];

async function phased(device: AcceptedDevice) {
  await deploy(server, [device, await pollingDevice()], { phases });
}

/** A device without an update: the situation, the condition, the outcome and the sentence. */
const situations: readonly [
  situation: string,
  condition: string,
  outcome: 'no update' | 'up to date',
  reason: RegExp,
  arrange: (device: AcceptedDevice) => unknown,
  provides?: Provides,
][] = [
  [
    'no deployment',
    'deployment',
    'no update',
    /^no deployment includes the device$/,
    () => undefined,
  ],
  [
    'another device type',
    'device-type',
    'no update',
    /^deployment spring .* of release-1 has no artifact for the device: no artifact with this name is compatible with device type Board; compatible types: board$/,
    (device) => deploy(server, [device]),
    { ...board, device_type: 'Board' },
  ],
  [
    'an unmet dependency',
    'depends',
    'no update',
    /of release-2 .* it requires checksum to be one of: aaa, bbb; the device does not report it$/,
    (device) => deploy(server, [device], { artifact_name: 'release-2' }),
  ],
  [
    'the release being installed',
    'already-installed',
    'up to date',
    /^the device already has release-1 installed, and deployment spring .* does not force/,
    (device) => deploy(server, [device]),
    { ...board, artifact_name: 'release-1' },
  ],
  [
    'a finished one',
    'device-finished',
    'up to date',
    /^the device finished deployment spring .* with success at 2026-11-21T12:00:00.000Z$/,
    finished,
    { ...board, artifact_name: 'release-1' },
  ],
  [
    'a finished one, though the device reports another artifact',
    'device-finished',
    'no update',
    /^the device finished deployment spring .* with success at .*, but it reports release-0$/,
    async (device) => {
      await finished(device);
      await nextRequests['GET v1'](server, device.token, board);
    },
  ],
  [
    'a failed one',
    'device-finished',
    'no update',
    /^the device finished deployment spring .* with failure at 2026-11-21T12.*: it reported failure, or polled with different data/,
    (device) => finished(device, 'failure'),
  ],
  [
    'an aborted one',
    'aborted',
    'no update',
    /^deployment spring .* was aborted for the device at/,
    aborted,
  ],
  [
    'one aborted for the device alone',
    'aborted',
    'no update',
    /^deployment spring .* was aborted for the device at/,
    abortedAlone,
  ],
  [
    'one that was finished before the device began',
    'deployment-finished',
    'no update',
    /^deployment spring .* was finished at .*, before the device began it$/,
    finishedBefore,
  ],
  [
    'a full one',
    'max-devices',
    'no update',
    /is limited to 2 devices, and 2 were offered it$/,
    full,
  ],
  [
    'a later phase',
    'phase',
    'no update',
    /allow 0 of 2 devices so far, and 0 were offered it; phase 1 starts at 2026-12-01T00:00:00.000Z$/,
    phased,
  ],
];

/** Polls as the device and returns the request ID of the 204. */
async function polled(
  device: AcceptedDevice,
  operation: PollOperation,
  provides: Provides,
): Promise<string> {
  const response = await nextRequests[operation](server, device.token, provides);
  expect(response.status).toBe(204);
  return response.headers.get('X-SVC-RequestID') ?? '';
}

/** Extracts the response from an explanation, as each place shows it. */
const explanationOf = ({ outcome, condition, reason }: Explanation): Explanation => ({
  outcome,
  condition,
  reason,
});

describe('a poll without an update', () => {
  it.each(situations)(
    'has the same reason in journal, record and explanation: %s',
    async (_, condition, outcome, reason, arrange, provides = board) => {
      for (const operation of provides === board ? pollOperations : pollOperations.slice(0, 1)) {
        const device = await pollingDevice();
        await arrange(device);
        for (let time = 0; time < 2; time += 1) {
          const id = await polled(device, operation, provides);
          const explanation = await explained(`/${id}`);
          const facts = explanationOf(explanation);
          if (time === 0) {
            expect(facts).toEqual({ outcome, condition, reason: expect.stringMatching(reason) });
            expect('remedy' in explanation).toBe(outcome === 'no update');
          }
          expect([explanation.requestId, explanation.device.id]).toEqual([id, device.id]);
          const [entry] = (await journalOf(device)).slice(-1);
          expect(entry?.noUpdate).toMatchObject(facts);
          const record = await control(server, 'GET', `/journal/${entry?.sequence}`);
          const { entry: whole } = JSON.parse(record.text) as { entry: Entry };
          expect(whole.noUpdate).toEqual(entry?.noUpdate);
        }
      }
    },
  );

  it('is explained by the state at that time, despite later changes', async () => {
    for (const [, , , , arrange, provides = board] of situations) {
      const device = await pollingDevice();
      await arrange(device);
      const id = await polled(device, 'POST v2', provides);
      const explanationBefore = await explained(`/${id}`);
      await finished(device);
      await server.call('decommission-device', {
        token: server.adminToken,
        parameters: { id: device.id },
      });
      expect(explanationOf(await explained(`/${id}`))).toEqual(explanationOf(explanationBefore));
    }
  });

  it('is explained as text that states its reason once', async () => {
    const device = await pollingDevice();
    await finished(device);
    await aborted(device);
    const explanation = await fetch(`${server.controlUrl}/explanations?device=asks-${count}`, {
      headers: { Authorization: `Bearer ${server.controlToken}`, Accept: 'text/plain' },
    });
    const text = await explanation.text();
    expect(text.match(/was aborted/g)).toHaveLength(1);
    expect(text).toMatch(/^outcome {5}no update: deployment spring .* was aborted/m);
    expect(text).toMatch(/^remedy {6}deploy to the device again, since/m);
    expect(text).toMatch(/^condition {3}aborted$/m);
    expect(text).toMatch(/^other {7}the device finished deployment spring .* with success/m);
    expect(text).toContain(device.id);
  });
});

type Explanation = { readonly [Name in 'outcome' | 'condition' | 'reason']?: string | undefined };

interface Entry {
  readonly sequence: number;
  readonly noUpdate?: Explanation;
}

async function journalOf({ id }: AcceptedDevice): Promise<Entry[]> {
  const { text } = await control(server, 'GET', `/journal?device=${id}`);
  return (JSON.parse(text) as { entries: Entry[] }).entries;
}

describe('the update status of a device', () => {
  it.each(situations)(
    'predicts the result of its next poll: %s',
    async (_, _rule, _outcome, _because, arrange, provides = board) => {
      const device = await pollingDevice();
      await nextRequests['POST v1'](server, device.token, provides);
      await arrange(device);
      const explanationBefore = await explained(`?device=${device.id}`);
      const id = await polled(device, 'POST v1', provides);
      expect(explanationOf(explanationBefore)).toEqual(explanationOf(await explained(`/${id}`)));
    },
  );

  it('does not depend on the journal or on the kind of poll', async () => {
    for (const operation of pollOperations) {
      const device = await pollingDevice();
      const id = await deploy(server, [device], { artifact_name: 'release-2' });
      const provides = { ...board, checksum: 'aaa' };
      if (operation === 'GET v1') await abort(server, id);
      await nextRequests[operation](server, device.token, provides);
      const explanationBefore = await explained(`?device=${device.id}`);
      expect(explanationBefore.polled).toMatch(/^at .* with .*artifact_name=release-0/);
      expect((await control(server, 'DELETE', '/journal')).status).toBe(200);
      expect(await explained(`?device=${device.id}`)).toEqual(explanationBefore);
    }
  });

  it('follows from the last poll, even if it differs from the previous one', async () => {
    const device = await pollingDevice();
    for (const artifact of ['a', 'b', 'b']) {
      server.clock.advance(1000);
      await nextRequests['POST v1'](server, device.token, { ...board, artifact_name: artifact });
      const { polled: lastPoll } = await explained(`?device=${device.id}`);
      const at = new Date(server.clock.now()).toISOString();
      expect(lastPoll).toBe(`at ${at} with device_type=board, artifact_name=${artifact}`);
    }
  });

  it('asks for an ID when several devices share the value', async () => {
    for (const mac of ['a', 'b']) {
      const idData = JSON.stringify({ mac, rack: 'shared-rack' });
      await authenticate(server, { ...newDevice(mac), idData });
    }
    const { status, text } = await control(server, 'GET', '/explanations?device=shared-rack');
    expect([status, text]).toEqual([
      400,
      expect.stringMatching(/matches several devices; use an ID: [\w-]{36}, [\w-]{36}"/),
    ]);
  });

  it('is up to date after the device finished, whatever it reported before', async () => {
    const device = await pollingDevice();
    await finished(device);
    expect((await explained(`?device=${device.id}`)).outcome).toBe('up to date');
  });

  it('mentions a last poll that was too long to be recorded', async () => {
    const device = await pollingDevice();
    await nextRequests['POST v1'](server, device.token, {
      ...board,
      one: 'x'.repeat(3000),
      two: 'x'.repeat(3000),
    });
    await deploy(server, [device]);
    const { reason } = await explained(`?device=${device.id}`);
    expect(reason).toMatch(
      /is waiting for the device; its last poll was not recorded, because it has more/,
    );
  });

  it('is an update while one waits or a failure may be retried', async () => {
    const device = await pollingDevice();
    const id = await deploy(server, [device], { retries: 1 });
    for (const failing of [true, false]) {
      const { outcome, condition, reason } = await explained(`?device=${device.id}`);
      expect([outcome, condition]).toEqual(['update', undefined]);
      expect(reason).toMatch(/^the next poll gets deployment spring/);
      expect((await nextRequests['GET v1'](server, device.token, board)).status).toBe(200);
      if (failing) await report(server, device, { id, status: 'failure' });
    }
  });

  it('warns of a poll that conflicts with an earlier one', async () => {
    const device = await pollingDevice();
    await deploy(server, [device]);
    await nextRequests['GET v1'](server, device.token, board);
    const { polled: lastPoll } = await explained(`?device=${device.id}`);
    const { outcome, reason } = await explained(`?device=${device.id}`);
    expect([lastPoll, outcome, reason]).toEqual([
      expect.stringContaining('artifact_name=release-0'),
      'update',
      expect.stringMatching(/again, because the device has not finished it: pending$/),
    ]);
    const otherPoll = await nextRequests['GET v1'](server, device.token, {
      ...board,
      artifact_name: 'x',
    });
    expect(otherPoll.status).toBe(409);
    expect((await explained(`?device=${device.id}`)).reason).toMatch(
      /^the last poll was answered with 409: conflicting request data/,
    );
  });

  it('starts with the advice to accept the device, then to poll', async () => {
    const known = await acceptedDevice(server, 'has-not-polled');
    const never = async () => explained(`?device=${known.id}`);
    expect(await never()).toMatchObject({
      condition: 'deployment',
      polled: 'not since the server started',
    });
    await deploy(server, [known]);
    expect(await never()).toMatchObject({
      condition: 'polling',
      reason: expect.stringMatching(
        /^the device has not polled since the server started; deployment spring .* is waiting/,
      ),
    });
    const device = await pollingDevice();
    await server.call('get-next-deployment', { token: device.token });
    expect(await explained(`?device=${device.id}`)).toMatchObject({
      condition: 'polling',
      reason: expect.stringMatching(
        /^the last poll was answered with 400: query: \w+: is required; for details: npx fleetbed explain/,
      ),
    });
    await control(server, 'DELETE', '/journal');
    expect((await explained(`?device=${device.id}`)).reason).toMatch(/is required$/);
    await decide(server, device, 'rejected');
    expect(await explained(`?device=${device.id}`)).toMatchObject({
      condition: 'accepted',
      reason: 'a user has rejected the device',
      remedy: `accept the device: npx fleetbed accept ${device.id}`,
      passed: [],
    });
  });

  it('returns 404 for an unknown device, with the nearest names', async () => {
    await acceptedDevice(server, '02:00:00:00:00:01');
    const misspelt = await control(server, 'GET', '/explanations?device=02:00:00:00:00:0I');
    expect([misspelt.status, misspelt.text]).toEqual([
      404,
      expect.stringContaining('nearest: 02:00:00:00:00:01'),
    ]);
  });

  it('returns 400 without a device', async () => {
    expect((await control(server, 'GET', '/explanations')).status).toBe(400);
  });
});

describe('the no-update response of a restarted server or another dialect', () => {
  const updated = { ...board, artifact_name: 'release-1' };

  /** Returns the responses that journal, poll and device show for a successfully updated device. */
  async function explanationsOf(
    otherServer: TestServer,
    device: AcceptedDevice,
  ): Promise<readonly Explanation[]> {
    const response = await nextRequests['GET v1'](otherServer, device.token, updated);
    const read = async (path: string) => JSON.parse((await control(otherServer, 'GET', path)).text);
    const { entries } = (await read('/journal')) as { entries: Entry[] };
    const byId = await read(`/explanations/${response.headers.get('X-SVC-RequestID')}`);
    const ofDevice = await read(`/explanations?device=${device.id}`);
    return [entries.at(-1)?.noUpdate ?? {}, byId, ofDevice].map(explanationOf);
  }

  async function updatedDevice(otherServer: TestServer): Promise<AcceptedDevice> {
    await publish(otherServer, { name: 'release-1' });
    const device = await acceptedDevice(otherServer, 'survives');
    const id = await deploy(otherServer, [device]);
    await nextRequests['GET v1'](otherServer, device.token, board);
    await report(otherServer, device, { id, status: 'success' });
    return device;
  }

  const upToDate = {
    outcome: 'up to date',
    condition: 'device-finished',
    reason: expect.stringMatching(/^the device finished deployment spring .* with success at /),
  };

  it('is unchanged and shows that the device has not polled', async () => {
    const dataFolder = mkdtempSync(join(tmpdir(), 'fleetbed-no-update-'));
    try {
      const first = await startTestServer({ dataFolder });
      const device = await updatedDevice(first);
      const explanationsBefore = await explanationsOf(first, device);
      await first.close();
      const restarted = await startTestServer({ dataFolder });
      const { text } = await control(restarted, 'GET', `/explanations?device=${device.id}`);
      const { polled: lastPoll, ...unpolled } = JSON.parse(text) as NoUpdateExplanation;
      expect([lastPoll, explanationOf(unpolled)]).toEqual([
        'not since the server started',
        explanationsBefore[0],
      ]);
      expect(await explanationsOf(restarted, device)).toEqual(explanationsBefore);
      await restarted.close();
    } finally {
      rmSync(dataFolder, { recursive: true });
    }
  });

  it.each(dialectNames)('is the same everywhere in the dialect %s', async (name) => {
    const otherServer = await startTestServer({ dialects: new Set([name]) });
    const device = await updatedDevice(otherServer);
    expect(await explanationsOf(otherServer, device)).toEqual([upToDate, upToDate, upToDate]);
    await otherServer.close();
  });
});
