/** Lists the deployments of a device, newest first. */
import { Link } from 'wouter-preact';
import { limits } from '../../../../fixtures/contract/limits.ts';
import type {
  Deployment,
  DeploymentDevice,
} from '../../../../fixtures/contract/management/deployments.ts';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { Table } from '../../../../fixtures/page/table.tsx';
import { useLoaded } from '../api/loaded.ts';
import { callManagement, manageAll } from '../api/management.ts';
import { ActionButton } from '../parts/action.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { dayAndTime } from '../parts/texts.ts';
import { View } from '../parts/view.tsx';
import { LogButton } from './deployment-log.tsx';

interface DeviceDeploymentRow {
  readonly id: string;
  readonly deployment: Deployment;
  readonly device: DeploymentDevice;
}

/** The list of a device's deployments has smaller pages than others. */
const HISTORY_PAGE = limits.deviceHistoryPageMax;

export function DeviceDeployments({ deviceId }: { deviceId: string }) {
  const parameters = { id: deviceId };
  const loaded = useLoaded(
    () => manageAll<DeviceDeploymentRow>('list-device-deployments', { parameters }, HISTORY_PAGE),
    `deployments of ${deviceId}`,
    { isLive: true },
  );
  return (
    <View subject="the deployments" loaded={loaded}>
      {(deployments) =>
        deployments.length === 0 ? (
          <Empty title="No deployments for this device" />
        ) : (
          <>
            <div class="actions">
              <ActionButton
                kind="danger"
                work={() => callManagement('abort-device-deployments', { parameters })}
                done="The open deployments of the device are aborted."
                asks={{
                  title: 'Abort its open deployments?',
                  text: 'They are no longer offered to the device.',
                  action: 'Abort',
                }}
              >
                Abort open deployments
              </ActionButton>
            </div>
            <Table
              caption="Deployments"
              isCaptionHidden
              rows={deployments}
              keyOf={({ deployment }) => deployment.id}
              columns={[
                {
                  title: 'Deployment',
                  cell: ({ deployment: { id, name } }) => (
                    <Link href={`/deployments/${id}`}>{name}</Link>
                  ),
                },
                { title: 'Artifact', cell: ({ deployment }) => deployment.artifact_name },
                {
                  title: 'Status',
                  cell: ({ device }) => (
                    <>
                      <StatusBadge status={device.status} /> {device.substate}
                    </>
                  ),
                },
                { title: 'Started', cell: ({ device }) => dayAndTime(device.started) },
                { title: 'Finished', cell: ({ device }) => dayAndTime(device.finished) },
                {
                  title: 'Log',
                  cell: ({ deployment, device }) =>
                    device.log ? (
                      <LogButton deploymentId={deployment.id} deviceId={deviceId} />
                    ) : (
                      '–'
                    ),
                },
              ]}
            />
          </>
        )
      }
    </View>
  );
}
