/** Shows one device: its identity, why it gets no update, and all its data. */
import { lazy, Suspense } from 'preact/compat';
import { Link, useParams } from 'wouter-preact';
import type { Device } from '../../../../fixtures/contract/management/devices.ts';
import { Loading } from '../../../../fixtures/page/states.tsx';
import { Tabs } from '../../../../fixtures/page/tabs.tsx';
import { goTo, useQuery } from '../address.ts';
import { useLoaded } from '../api/loaded.ts';
import { manageJson } from '../api/management.ts';
import { ActionButton } from '../parts/action.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { deviceName } from '../parts/texts.ts';
import { View } from '../parts/view.tsx';
import { decommission } from './decisions.ts';
import { DeviceConfiguration } from './device-configuration.tsx';
import { DeviceDeployments } from './device-deployments.tsx';
import { DeviceAlerts, DeviceInventory } from './device-facts.tsx';
import { DeviceIdentity } from './device-identity.tsx';
import { DeviceTimeline } from './device-timeline.tsx';
import { WhyNoUpdate } from './why-no-update.tsx';

const DeviceSocket = lazy(() => import('./device-socket.tsx'));

const tabs = [
  { id: 'identity', title: 'Identity' },
  { id: 'timeline', title: 'Timeline' },
  { id: 'inventory', title: 'Inventory' },
  { id: 'configuration', title: 'Configuration' },
  { id: 'alerts', title: 'Alerts' },
  { id: 'deployments', title: 'Deployments' },
  { id: 'socket', title: 'Socket' },
] as const;

export function DeviceSection() {
  const { id = '' } = useParams<{ id: string }>();
  const loaded = useLoaded(
    () => manageJson<Device>('get-device', { parameters: { id } }),
    `device ${id}`,
    { isLive: true },
  );
  return (
    <>
      <p class="trail">
        <Link href="/devices">Devices</Link>
      </p>
      <View subject="the device" loaded={loaded}>
        {(device) => <DeviceView device={device} reload={loaded.reload} />}
      </View>
    </>
  );
}

function DeviceView({ device, reload }: { device: Device; reload: () => void }) {
  const [chosen, setTab] = useQuery('tab');
  const tab = tabs.find(({ id }) => id === chosen)?.id ?? 'identity';
  const name = deviceName(JSON.stringify(device.identity_data));
  const decommissionAndLeave = async (): Promise<void> => {
    await decommission(device.id);
    goTo('/devices');
  };
  return (
    <>
      <div class="title">
        <h1>{name}</h1>
        <StatusBadge status={device.status} />
        <ActionButton
          kind="danger"
          work={decommissionAndLeave}
          done="The device was decommissioned."
          asks={{
            title: 'Decommission this device?',
            text: `All data of ${name} is deleted.`,
            action: 'Decommission',
          }}
        >
          Decommission
        </ActionButton>
      </div>
      <WhyNoUpdate deviceId={device.id} />
      <Tabs label="About the device" tabs={tabs} chosen={tab} onChoose={setTab}>
        <Panel tab={tab} device={device} reload={reload} />
      </Tabs>
    </>
  );
}

function Panel({ tab, device, reload }: { tab: string; device: Device; reload: () => void }) {
  const { id } = device;
  if (tab === 'timeline') return <DeviceTimeline deviceId={id} />;
  if (tab === 'inventory') return <DeviceInventory deviceId={id} />;
  if (tab === 'configuration') return <DeviceConfiguration deviceId={id} />;
  if (tab === 'alerts') return <DeviceAlerts deviceId={id} />;
  if (tab === 'deployments') return <DeviceDeployments deviceId={id} />;
  if (tab === 'socket') {
    return (
      <Suspense fallback={<Loading subject="the terminal" />}>
        <DeviceSocket deviceId={id} />
      </Suspense>
    );
  }
  return <DeviceIdentity device={device} reload={reload} />;
}
