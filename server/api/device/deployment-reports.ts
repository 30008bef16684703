/**
 * Reports of a device on a deployment, and the map that may pause it. Spec: Device deployments v1,
 * v2
 */
import {
  type DeviceDeploymentStatus,
  finalStatuses,
} from '../../../fixtures/contract/vocabulary.ts';
import { refuse } from '../../http/refusal.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';
import { controlMapOf } from '../../rules/control-map.ts';
import { logText } from '../../rules/deployment-log.ts';
import { refusedReports } from '../../rules/status-report.ts';

const noSuchDeployment = refuse.notFound('this device was not offered a deployment of this id');

export const putDeploymentStatus = defineEndpoint(
  'put-deployment-status',
  ({ parameters, body }, { store, device, nowMs }) => {
    const part = store.parts.findOffered(parameters.id, device.id);
    if (!part) return noSuchDeployment;
    const because = refusedReports[part.status];
    if (because !== undefined) return refuse.conflict(because);
    store.parts.report(part, body, nowMs);
    return { status: 204 };
  },
);

export const putDeploymentLog = defineEndpoint(
  'put-deployment-log',
  ({ parameters, body }, { store, device }) => {
    const part = store.parts.findOffered(parameters.id, device.id);
    if (!part) return noSuchDeployment;
    store.parts.saveLog(part, logText(body));
    return { status: 204 };
  },
);

export const getUpdateControlMap = defineEndpoint(
  'get-update-control-map',
  ({ parameters }, { store, device }) => {
    const part = store.parts.findOffered(parameters.id, device.id);
    if (!part) return noSuchDeployment;
    if (isOver(part.status)) return refuse.notFound('this deployment has ended for this device');
    const map = controlMapOf(part.deployment);
    return { status: 200, body: map ? { update_control_map: map } : {} };
  },
);

function isOver(status: DeviceDeploymentStatus): boolean {
  return finalStatuses.includes(status);
}
