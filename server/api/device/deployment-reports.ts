/**
 * Receives the status and log that a device reports for a deployment, and serves the update control
 * map, which can pause the update.
 * Spec: Device deployments v1, v2
 */
import { type Refusal, refuse } from '../../http/refusal.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';
import { controlMapOf } from '../../rules/control-map.ts';
import { logText } from '../../rules/deployment-log.ts';
import { applyReport, isFinal } from '../../rules/device-deployment.ts';
import { type CallingContext, meaningOfId } from './id-meaning.ts';

const finalForDevice = refuse.notFound('the status of this deployment is final for this device', {
  path: 'path.id',
  expected: 'the ID of a deployment whose status is not final for this device',
  requirement: 'map.finished-is-404',
});

export const putDeploymentStatus = defineEndpoint(
  'put-deployment-status',
  ({ parameters, body }, { store, device, nowMs }) => {
    const deviceDeployment = store.deviceDeployments.findOffered(parameters.id, device.id);
    if (!deviceDeployment) return notOffered(parameters.id, { store, device });
    const reportedDeployment = applyReport(deviceDeployment, body, nowMs);
    if ('reason' in reportedDeployment) {
      const expected = 'a deployment that is neither aborted nor of a decommissioned device';
      const detail = { path: 'state', expected, actual: `status ${deviceDeployment.status}` };
      return refuse.conflict(reportedDeployment.reason, detail);
    }
    store.deviceDeployments.save(deviceDeployment, reportedDeployment, nowMs);
    return { status: 204 };
  },
);

export const putDeploymentLog = defineEndpoint(
  'put-deployment-log',
  ({ parameters, body }, { store, device }) => {
    const deviceDeployment = store.deviceDeployments.findOffered(parameters.id, device.id);
    if (!deviceDeployment) return notOffered(parameters.id, { store, device });
    store.deviceDeployments.saveLog(deviceDeployment, logText(body));
    return { status: 204 };
  },
);

export const getUpdateControlMap = defineEndpoint(
  'get-update-control-map',
  ({ parameters }, { store, device }) => {
    const deviceDeployment = store.deviceDeployments.findOffered(parameters.id, device.id);
    if (!deviceDeployment) return notOffered(parameters.id, { store, device });
    if (isFinal(deviceDeployment)) return finalForDevice;
    const map = controlMapOf(deviceDeployment.deployment);
    return { status: 200, body: map ? { update_control_map: map } : {} };
  },
);

/**
 * Refuses a report for a deployment that was not offered to the device. Only the explanation says
 * what the ID belongs to; the response must not reveal other devices' deployments to the device.
 */
function notOffered(id: string, { store, device }: CallingContext): Refusal {
  const actual = meaningOfId(id, { store, device });
  return refuse.notFound('this device was not offered a deployment with this ID', {
    path: 'path.id',
    expected: 'the ID of a deployment that this device was offered',
    ...(actual !== undefined && { actual: `${id}, ${actual}` }),
  });
}
