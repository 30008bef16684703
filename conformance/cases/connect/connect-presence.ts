/** Cases: users see whether a device is connected. Spec: Device connect */
import {
  acceptedDevice,
  requireResponse,
  StartStateNotReached,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { bearer } from '../../target/call.ts';
import { expectEqual, expectThat, observationOf } from '../../target/expectations.ts';
import { FrameConnection } from '../../target/frame-connection.ts';
import { openedSocket, requestUpgrade, upgradeHeaders } from './upgrade-request.ts';

/** Silence in milliseconds that no server may take for the end of a device. */
const SILENCE_MS = 12_000;

/** Waits until users see the device in the expected state; returns the last state seen. */
function presence(context: TestContext, { id }: SuiteDevice, expected: string) {
  return context.eventually(
    () => context.admin.connection(id),
    (status) => status === expected,
  );
}

interface ConnectedDevice {
  readonly device: SuiteDevice;
  readonly connection: FrameConnection;
  readonly cut: () => void;
}

async function connectedDevice(context: TestContext): Promise<ConnectedDevice> {
  const device = await acceptedDevice(context);
  return openSocket(context, device);
}

async function openSocket(context: TestContext, device: SuiteDevice): Promise<ConnectedDevice> {
  const response = await requestUpgrade(context, { ...upgradeHeaders, ...bearer(device.token) });
  requireResponse('connect', response, 101);
  const socket = openedSocket(response);
  return {
    device,
    connection: new FrameConnection(socket, context.clock),
    cut: () => socket.destroy(),
  };
}

/** Arranges a connection that users see, so that its end can be observed. */
async function shownDevice(context: TestContext): Promise<ConnectedDevice> {
  const arranged = await connectedDevice(context);
  const status = await presence(context, arranged.device, 'connected');
  if (status === 'connected') return arranged;
  throw new StartStateNotReached('a device that is shown as connected', `it is ${status}`);
}

/** Waits a second for the end of a connection, and says whether it came. */
async function endOf(connection: FrameConnection): Promise<string> {
  await connection.until(({ close, ended }) => ended || !!close, 1000);
  return connection.ended || connection.close ? 'it ends' : 'it stays open';
}

const closeFrame = { opcode: 8, payload: Buffer.from([0x03, 0xe8]) };

const available = defineScenario({
  area: 'connect',
  name: 'An open connection',
  start: 'a device with an open connection',
  effect: 'write',
  needs: ['user'],
  arrange: connectedDevice,
  cases: [
    {
      id: 'connected-is-shown',
      title: 'Users see the device as connected.',
      requirements: ['connect.makes-available'],
      run: async ({ device }, context) =>
        expectEqual('status', await presence(context, device, 'connected'), 'connected'),
    },
  ],
});

const silent = defineScenario({
  area: 'connect',
  name: 'An open connection that is silent',
  start: 'a device with an open connection',
  effect: 'write',
  order: 'first',
  needs: ['user'],
  arrange: connectedDevice,
  cases: [
    {
      id: 'silence-keeps-it-open',
      title: 'A device that sends nothing for twelve seconds is still connected.',
      requirements: ['connect.makes-available'],
      run: async ({ device, connection }, context) => {
        await context.clock.sleep(SILENCE_MS);
        expectThat(!connection.ended && !connection.close, 'an open connection', 'its end');
        expectEqual('status', await presence(context, device, 'connected'), 'connected');
      },
    },
  ],
});

const ending = defineScenario({
  area: 'connect',
  name: 'The end of a connection',
  start: 'a device that users see as connected',
  effect: 'write',
  needs: ['user'],
  arrange: shownDevice,
  cases: [
    {
      id: 'disconnected-is-shown',
      title: 'After the device closes the connection, users see it as disconnected.',
      requirements: ['connect.ends-available'],
      run: async ({ device, connection }, context) => {
        connection.send(closeFrame);
        const status = await presence(context, device, 'disconnected');
        expectEqual('status', status, 'disconnected');
      },
    },
    {
      id: 'lost-connection-is-shown',
      title: 'After the connection is lost, users see the device as disconnected.',
      requirements: ['connect.lost-is-shown'],
      run: async ({ device, cut }, context) => {
        cut();
        const status = await presence(context, device, 'disconnected');
        expectEqual('status', status, 'disconnected');
      },
    },
    {
      id: 'decommission-ends-the-connection',
      title: 'What happens to the open connection when a user decommissions the device.',
      requirements: ['connect.ends-with-decommission'],
      observe: async ({ device, connection }, context) => {
        await context.admin.decommission(device.id);
        return observationOf(await endOf(connection));
      },
    },
    {
      id: 'rejected-device',
      title: 'What happens to the open connection when a user rejects the device.',
      requirements: ['connect.after-rejection'],
      observe: async ({ device, connection }, context) => {
        await context.admin.decide(device.id, device.key, 'rejected');
        return observationOf(await endOf(connection));
      },
    },
    {
      id: 'second-connection',
      title: 'What happens to the connection when the device opens a second one.',
      requirements: ['connect.second-connection'],
      observe: async ({ device, connection }, context) => {
        await openSocket(context, device);
        const isOver = await connection.until(({ close, ended }) => ended || !!close, 1000);
        if (!isOver && !connection.ended) return observationOf('both stay open');
        return observationOf(
          connection.close ? 'the first is closed' : 'the first ends without a close frame',
        );
      },
    },
    {
      id: 'second-connection-is-shown',
      title: 'If a second connection replaces the first, users still see the device as connected.',
      requirements: ['connect.second-keeps-available'],
      run: async ({ device, connection, cut }, context) => {
        await openSocket(context, device);
        await connection.until(({ ended }) => ended, 1000);
        cut();
        // The target may process the end of the first connection late, so the state is polled.
        const status = await context.eventually(
          () => context.admin.connection(device.id),
          (presence) => presence !== 'connected',
          500,
        );
        expectEqual('status', status, 'connected');
      },
    },
  ],
});

export const connectPresenceCases = [...available, ...silent, ...ending];
