import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../../fixtures/base/clock.ts';
import {
  decodeConnectMessage,
  encodeConnectMessage,
} from '../../fixtures/formats/connect-message.ts';
import { token } from '../testing/client-fixture.ts';
import { planWith } from '../testing/plan-with.ts';
import { emptyConfiguration, StubServer } from '../testing/stub-server.ts';
import { simulateFleet } from './simulate-fleet.ts';

const HOUR_MS = 3_600_000;
const recorded = () => ({ status: 204 });

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A connected device that has nothing to do for an hour. */
async function idleDevice() {
  const server = await StubServer.start({
    'post-auth-request': () => ({ status: 200, body: token }),
    'post-monitor-configuration': recorded,
    'post-alerts': recorded,
    'get-configuration': emptyConfiguration,
    'put-configuration': recorded,
    'put-attributes': () => ({ status: 200 }),
    'post-next-deployment-v2': recorded,
  });
  const upgrades = new WebSocketServer({ noServer: true });
  const connected = new Promise<WebSocket>((resolve) => {
    server.http.on('upgrade', (request, socket, head) => {
      upgrades.handleUpgrade(request, socket, head, resolve);
    });
  });
  const stop = new AbortController();
  const plan = planWith({
    baseUrl: server.baseUrl,
    devices: 1,
    pollIntervalMs: HOUR_MS,
    inventoryIntervalMs: HOUR_MS,
    connect: true,
  });
  const run = simulateFleet(plan, { clock: systemClock, signal: stop.signal });
  closers.push(
    () => server.close(),
    () => run,
    () => stop.abort(),
  );
  const websocket = await connected;
  await server.untilAsked('post-next-deployment-v2');
  return { server, websocket };
}

/** Returns the device's reply to a message for its update client. */
function command(websocket: WebSocket, typ: string) {
  const response = new Promise((resolve) => {
    websocket.once('message', (data) => resolve(decodeConnectMessage(data as Buffer)));
  });
  websocket.send(encodeConnectMessage({ proto: 4, typ, sid: 's' }));
  return response;
}

describe('a connected device of the fleet', () => {
  it('checks for an update on request without sending its inventory', async () => {
    const { server, websocket } = await idleDevice();
    expect(await command(websocket, 'check-update')).toMatchObject({ props: { status: 1 } });
    await server.untilAsked('post-next-deployment-v2', 2);
    expect(server.requestsFor('put-attributes')).toHaveLength(1);
  });

  it('sends its inventory immediately on request', async () => {
    const { server, websocket } = await idleDevice();
    expect(await command(websocket, 'send-inventory')).toMatchObject({ props: { status: 1 } });
    const [first, second] = await server.untilAsked('put-attributes', 2);
    expect(second?.json()).toEqual(first?.json());
  });

  it('checks for an update at each further request', async () => {
    const { server, websocket } = await idleDevice();
    for (let count = 2; count <= 4; count++) {
      await command(websocket, 'check-update');
      await server.untilAsked('post-next-deployment-v2', count);
    }
  });
});
