import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import type { ClientEvent } from '../../fixtures/control/client-event.ts';
import type { ControlOperationId, ResponseOf } from '../../fixtures/control/operations.ts';
import { startTestbed, type Testbed } from '../testbed.ts';
import { newDevice, signatureOf } from '../testing/test-device.ts';
import { acceptedIn, authenticateIn } from '../testing/test-testbed.ts';
import { type SeenReader, seenReader } from './testing/seen-reader.ts';

let testbed: Testbed;
afterEach(() => testbed.close());

/** Starts a testbed with a reader of its first tenant. */
async function start(observe?: (event: ClientEvent) => void): Promise<SeenReader> {
  const reader = seenReader(observe);
  testbed = await startTestbed({ seed: 'feed', judge: () => Promise.resolve(() => reader) });
  return reader;
}

const { path: pollPath } = operations['get-next-deployment'];

function poll(token: string, query = 'artifact_name=a&device_type=b'): Promise<Response> {
  return fetch(`${testbed.baseUrl}${pollPath}?${query}`, {
    headers: { Authorization: `Bearer ${token}` },
  });
}

/** Returns the response of the control API once everything that waits was judged. */
async function control<Id extends ControlOperationId = 'GET /clients'>(path = '/clients') {
  const headers = { Authorization: `Bearer ${testbed.controlToken}` };
  const response = await fetch(testbed.controlUrl + path, { headers });
  return { status: response.status, body: (await response.json()) as ResponseOf<Id> };
}

function serverEvents(reader: SeenReader) {
  return reader.events.flatMap((event) =>
    event.kind === 'server' ? [{ event: event.event, client: event.client }] : [],
  );
}

describe('the feed of device clients', () => {
  it('shows the exchanges of a device in their order, with the numbers of the journal', async () => {
    const reader = await start();
    const device = await acceptedIn(testbed, testbed, 'one');
    await poll(device.token);
    await control();
    const own = reader.events.filter((event) => event.kind === 'exchange');
    expect(own.map(({ status, client }) => ({ status, client }))).toEqual([
      { status: 401, client: device.id },
      { status: 200, client: device.id },
      { status: 204, client: device.id },
    ]);
    const last = await control<'GET /journal/{sequence}'>(`/journal/${own.at(-1)?.journalEntry}`);
    expect(last.body.entry.operation).toBe('get-next-deployment');
  });

  it('shows an acceptance, a rejection and a decommissioning of a device as events of a user', async () => {
    const reader = await start();
    const { id } = await acceptedIn(testbed, testbed, 'one');
    const { body } = await testbed.admin.call('get-device', { parameters: { id } });
    const parameters = { id, aid: body.auth_sets[0]?.id ?? '' };
    await testbed.admin.call('set-auth-set-status', { parameters, json: { status: 'rejected' } });
    await testbed.admin.call('decommission-device', { parameters: { id } });
    await control();
    expect(serverEvents(reader)).toEqual([
      { event: 'accepted', client: id },
      { event: 'rejected', client: id },
      { event: 'decommissioned', client: id },
    ]);
  });

  it('shows a change of the clock as an act that concerns every device', async () => {
    const reader = await start();
    await acceptedIn(testbed, testbed, 'one');
    testbed.clock.advance(60);
    await control();
    expect(serverEvents(reader).at(-1)).toEqual({ event: 'clock-moved', client: undefined });
  });

  it('names a planned fault, and what it altered, as what the server did to an exchange', async () => {
    const reader = await start();
    const { token } = await acceptedIn(testbed, testbed, 'one');
    testbed.faults.add({ rules: [{ id: 'busy', match: {}, act: 'gateway-503' }] });
    await poll(token);
    await control();
    const last = reader.events.findLast((event) => event.kind === 'exchange');
    const faultsAndVariations = ['busy', 'respond'];
    expect(last).toMatchObject({ status: 503, faultsAndVariations, alteration: 'bytes' });
  });

  it('passes a poll that equals the last one as a repeat, not in full', async () => {
    const reader = await start();
    const { token, id } = await acceptedIn(testbed, testbed, 'one');
    for (let count = 0; count < 3; count += 1) {
      await poll(token);
      await control();
    }
    await poll(token, 'artifact_name=other&device_type=b');
    await control();
    const polls = reader.events.filter(
      (event) => event.kind === 'exchange' && event.url.includes('/deployments/next'),
    );
    expect({ polls: polls.length, repeated: reader.repeated }).toEqual({
      polls: 2,
      repeated: [id, id],
    });
  });

  it('keeps the exchanges of an unknown identity once the server knows the device', async () => {
    await start();
    const device = newDevice('one');
    const { path } = operations['post-auth-request'];
    const body = JSON.stringify({ id_data: device.idData, pubkey: device.publicKeyPem });
    const headers = {
      'Content-Type': 'application/json',
      'X-SVC-Signature': signatureOf(`${body} `, device.privateKey),
    };
    const refused = await fetch(testbed.baseUrl + path, { method: 'POST', headers, body });
    expect(refused.status).toBe(401);
    const { body: before } = await control();
    expect(before.clients).toMatchObject([{ identity: device.idData, exchanges: 1 }]);
    await authenticateIn(testbed, testbed, device);
    const { body: after } = await control();
    expect(after.clients).toMatchObject([{ status: 'pending', exchanges: 2 }]);
  });

  it('goes on after the judge has failed, and counts the failure', async () => {
    await start((event) => {
      if (event.kind === 'exchange' && event.status === 204) throw new Error('a poll');
    });
    const { token } = await acceptedIn(testbed, testbed, 'one');
    expect((await poll(token)).status).toBe(204);
    const { status, body } = await control();
    expect([status, body.judgeErrors]).toEqual([200, 1]);
    expect((await poll(token)).status).toBe(204);
  });

  it('drops only events of a device beyond the queue limit, and marks the gap', async () => {
    const reader = seenReader();
    let loaded: (make: () => SeenReader) => void = () => undefined;
    const judge = () => new Promise<() => SeenReader>((resolve) => (loaded = resolve));
    testbed = await startTestbed({ judge });
    const { token, id } = await acceptedIn(testbed, testbed, 'one');
    const { token: otherToken, id: otherId } = await acceptedIn(testbed, testbed, 'two');
    for (let count = 0; count < 250; count += 1)
      await poll(token, `artifact_name=a${count}&device_type=b`);
    await poll(otherToken);
    loaded(() => reader);
    const { body } = await control();
    const lost = reader.events.filter(
      (event) => event.kind === 'server' && event.count !== undefined,
    );
    expect(lost).toMatchObject([{ event: 'events-dropped', client: id, count: body.dropped }]);
    // An acceptance and two requests came before the polls.
    expect(body.dropped).toBe(250 - (200 - 3));
    const seen = reader.events.filter((event) => event.kind === 'exchange');
    expect(seen.at(-1)).toMatchObject({ client: otherId, status: 204 });
  });

  it('removes the devices of a tenant that is reset', async () => {
    await start();
    await acceptedIn(testbed, testbed, 'one');
    expect((await control()).body.clients).toHaveLength(1);
    await testbed.reset();
    expect((await control()).body.clients).toEqual([]);
  });
});

describe('GET /clients/{device}', () => {
  it('returns 404 with a sentence for a device that is unknown or has sent nothing', async () => {
    await start();
    const { status, body } = await control('/clients/nobody');
    expect({ status, body }).toEqual({
      status: 404,
      body: {
        error: 'path: device: no device has this ID or identity value; there are no devices',
      },
    });
  });

  it('returns 409 with a sentence if the server has no judge', async () => {
    testbed = await startTestbed();
    expect((await control()).status).toBe(409);
  });
});
