import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publish } from '../../testing/test-artifacts.ts';
import {
  abort,
  board,
  deploy,
  doors,
  type Provides,
  report,
} from '../../testing/test-deployments.ts';
import { type AcceptedDevice, acceptedDevice, decide } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control } from '../../testing/test-tenants.ts';
import type { NoUpdateExplanation } from '../explain/no-update.ts';

let server: TestServer;
let count = 0;

beforeAll(async () => {
  server = await startTestServer();
  await publish(server, { name: 'release-1' });
  await publish(server, { name: 'release-2', depends: { checksum: ['aaa', 'bbb'] } });
});

afterAll(() => server.close());

type Door = keyof typeof doors;
const doorNames: readonly Door[] = ['GET v1', 'POST v1', 'POST v2'];

async function explained(path: string): Promise<NoUpdateExplanation> {
  const { status, text } = await control(server, 'GET', `/explanations${path}`);
  if (status !== 200) throw new Error(`no explanation: ${status} ${text}`);
  return JSON.parse(text) as NoUpdateExplanation;
}

/** A new device that has polled once, without an update. */
async function pollingDevice(): Promise<AcceptedDevice> {
  count += 1;
  const device = await acceptedDevice(server, `asks-${count}`);
  expect((await doors['GET v1'](server, device.token, board)).status).toBe(204);
  return device;
}

const aborted = async (device: AcceptedDevice) => abort(server, await deploy(server, [device]));

async function finished(device: AcceptedDevice) {
  const id = await deploy(server, [device]);
  await doors['GET v1'](server, device.token, board);
  await report(server, device, { id, status: 'success' });
}

async function full(device: AcceptedDevice) {
  const other = await pollingDevice();
  await deploy(server, [other, device], { max_devices: 1 });
  await doors['GET v1'](server, other.token, board);
}

const phases = [
  { batch_size: 50, start_ts: '2026-12-01T00:00:00.000Z' },
  { start_ts: '2026-12-02T00:00:00.000Z' },
];

async function phased(device: AcceptedDevice) {
  await deploy(server, [device, await pollingDevice()], { phases });
}

const scenes: readonly [
  scene: string,
  rule: string,
  told: RegExp,
  arrange: (device: AcceptedDevice) => unknown,
  provides?: Provides,
][] = [
  ['no deployment', 'deployment', /^no deployment includes the device$/, () => undefined],
  [
    'another device type',
    'device-type',
    /^no artifact with the name release-1 fits device type Board; compatible types: board$/,
    (device) => deploy(server, [device]),
    { ...board, device_type: 'Board' },
  ],
  [
    'an unmet dependency',
    'depends',
    /^release-2 depends on checksum being one of: aaa, bbb; the device does not report it$/,
    (device) => deploy(server, [device], { artifact_name: 'release-2' }),
  ],
  [
    'the release being installed',
    'already-installed',
    /^the device has release-1 already installed/,
    (device) => deploy(server, [device]),
    { ...board, artifact_name: 'release-1' },
  ],
  ['a finished one', 'finished', /^the device finished .* with success at 2026-11-21T12/, finished],
  ['an aborted one', 'aborted', /^deployment spring .* was aborted for the device at/, aborted],
  ['a full one', 'max-devices', /is limited to 1 devices, and 1 have started$/, full],
  [
    'a later phase',
    'phase',
    /allow 0 of 2 devices so far, and 0 have started; phase 1 starts at 2026-12-01T00:00:00.000Z$/,
    phased,
  ],
];

describe('a poll without an update', () => {
  it.each(scenes)(
    'is explained by the rule that said no: %s',
    async (_, rule, told, arrange, provides = board) => {
      for (const door of provides === board ? doorNames : doorNames.slice(0, 1)) {
        const device = await pollingDevice();
        await arrange(device);
        const reply = await doors[door](server, device.token, provides);
        expect(reply.status).toBe(204);
        const id = reply.headers.get('X-SVC-RequestID') ?? '';
        const { steps, outcome, requestId, device: asked } = await explained(`/${id}`);
        expect([outcome, requestId, asked.id]).toEqual(['no update', id, device.id]);
        expect(steps.map(({ passed }) => passed)).toEqual([
          ...steps.slice(1).map(() => true),
          false,
        ]);
        expect(steps.at(-1)).toEqual({
          rule,
          passed: false,
          sentence: expect.stringMatching(told),
        });
        const [entry] = (await journalOf(device)).slice(-1);
        expect(entry?.noUpdate?.rule).toBe(
          ['finished', 'aborted'].includes(rule) ? 'deployment' : rule,
        );
      }
    },
  );

  it('is explained as it was then, whatever came since', async () => {
    const device = await pollingDevice();
    const reply = await doors['GET v1'](server, device.token, board);
    server.clock.advance(1000);
    await finished(device);
    const id = reply.headers.get('X-SVC-RequestID') ?? '';
    expect((await explained(`/${id}`)).steps.at(-1)?.rule).toBe('deployment');
  });

  it('is told as text, the deployments of the device with it', async () => {
    const device = await pollingDevice();
    await aborted(device);
    const answer = await fetch(`${server.controlUrl}/explanations?device=asks-${count}`, {
      headers: { Authorization: `Bearer ${server.controlToken}`, Accept: 'text/plain' },
    });
    const text = await answer.text();
    expect(text).toMatch(/^outcome {5}would be no update$/m);
    expect(text).toMatch(/^stopped by {2}aborted: deployment spring/m);
    expect(text).toContain(device.id);
  });
});

interface Entry {
  readonly noUpdate?: { readonly rule: string };
}

async function journalOf({ id }: AcceptedDevice): Promise<Entry[]> {
  const { text } = await control(server, 'GET', `/journal?device=${id}`);
  return (JSON.parse(text) as { entries: Entry[] }).entries;
}

describe('how a device stands to its next update', () => {
  it.each(scenes)(
    'is what its next poll is answered: %s',
    async (_, _rule, _told, arrange, provides = board) => {
      const device = await pollingDevice();
      await doors['POST v1'](server, device.token, provides);
      await arrange(device);
      const before = await explained(`?device=${device.id}`);
      const reply = await doors['POST v1'](server, device.token, provides);
      expect(before.outcome).toBe(reply.status === 204 ? 'no update' : 'update');
      expect(reply.status).toBe(204);
      const id = reply.headers.get('X-SVC-RequestID') ?? '';
      expect((await explained(`/${id}`)).steps.at(-1)?.rule).toBe(before.steps.at(-1)?.rule);
    },
  );

  it('is an update where one waits, and after a failure that may be tried again', async () => {
    const device = await pollingDevice();
    const id = await deploy(server, [device], { retries: 1 });
    for (const failing of [true, false]) {
      const { outcome, steps } = await explained(`?device=${device.id}`);
      expect([outcome, steps.every(({ passed }) => passed)]).toEqual(['update', true]);
      expect((await doors['GET v1'](server, device.token, board)).status).toBe(200);
      if (failing) await report(server, device, { id, status: 'failure' });
    }
  });

  it('begins with being accepted, and with asking', async () => {
    const device = await pollingDevice();
    await server.call('get-next-deployment', { token: device.token });
    expect((await explained(`?device=${device.id}`)).steps.at(-1)).toMatchObject({
      rule: 'polling',
      sentence: expect.stringMatching(
        /was answered with 400: query: \w+: is required; for details: fleetbed explain/,
      ),
    });
    await decide(server, device, 'rejected');
    expect((await explained(`?device=${device.id}`)).steps).toEqual([
      {
        rule: 'accepted',
        passed: false,
        sentence: 'the device is rejected, not accepted by a user',
      },
    ]);
  });

  it('is refused for a device that nobody knows, with the nearest names', async () => {
    await acceptedDevice(server, '02:00:00:00:00:01');
    const misspelt = await control(server, 'GET', '/explanations?device=02:00:00:00:00:0I');
    expect([misspelt.status, misspelt.text]).toEqual([
      404,
      expect.stringContaining('nearest: 02:00:00:00:00:01'),
    ]);
    expect((await control(server, 'GET', '/explanations')).status).toBe(400);
  });
});
