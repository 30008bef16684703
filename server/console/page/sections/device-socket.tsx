/** Shows whether the WebSocket of the device is open, with the operations that need it. */
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { ApiError } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import { callManagement, manageJson } from '../api/management.ts';
import { ActionButton } from '../parts/action.tsx';
import { dayAndTime } from '../parts/texts.ts';
import { View } from '../parts/view.tsx';
import { DeviceFiles } from './device-files.tsx';
import { Shell } from './shell.tsx';

interface DeviceConnection {
  readonly status: string;
  readonly updated_ts: string;
}

async function loadConnection(id: string): Promise<DeviceConnection> {
  try {
    return await manageJson<DeviceConnection>('get-connection', { parameters: { id } });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) {
      return { status: 'never connected', updated_ts: '' };
    }
    throw error;
  }
}

export default function DeviceSocket({ deviceId }: { deviceId: string }) {
  const parameters = { id: deviceId };
  const loaded = useLoaded(() => loadConnection(deviceId), `socket ${deviceId}`, { isLive: true });
  return (
    <View subject="the connection" loaded={loaded}>
      {({ status, updated_ts: since }) => {
        const isOpen = status === 'connected';
        return (
          <div class="stack">
            <div class="actions">
              <Badge tone={isOpen ? 'positive' : 'plain'}>{status}</Badge>
              {since !== '' && <span class="muted">since {dayAndTime(since)}</span>}
              <ActionButton
                isDisabled={!isOpen}
                work={() => callManagement('check-device-update', { parameters })}
                done="The device was asked to check for an update."
              >
                Check for update
              </ActionButton>
              <ActionButton
                isDisabled={!isOpen}
                work={() => callManagement('send-device-inventory', { parameters })}
                done="The device was asked to send its inventory."
              >
                Send inventory
              </ActionButton>
            </div>
            <Card title="Terminal">
              <Shell deviceId={deviceId} isOpen={isOpen} />
            </Card>
            <DeviceFiles deviceId={deviceId} isOpen={isOpen} />
          </div>
        );
      }}
    </View>
  );
}
