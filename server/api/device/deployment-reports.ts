/**
 * Reports of a device on a deployment, and the map that may pause it. Spec: Device deployments v1,
 * v2
 */
import { refuse } from '../../http/refusal.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';
import { controlMapOf } from '../../rules/control-map.ts';
import { logText } from '../../rules/deployment-log.ts';
import { isOver, reported } from '../../rules/device-deployment.ts';

const noSuchDeployment = refuse.notFound('this device was not offered a deployment with this id', {
  path: 'path.id',
  expected: 'the id of a deployment that this device was offered',
});
const endedDeployment = refuse.notFound('this deployment has ended for this device', {
  path: 'path.id',
  expected: 'the id of a deployment that has not ended for this device',
  requirement: 'map.finished-is-404',
});

const abortedDetail = {
  path: 'state',
  expected: 'a deployment that is not aborted',
  actual: 'an aborted deployment',
};

export const putDeploymentStatus = defineEndpoint(
  'put-deployment-status',
  ({ parameters, body }, { store, device, nowMs }) => {
    const deviceDeployment = store.deviceDeployments.findOffered(parameters.id, device.id);
    if (!deviceDeployment) return noSuchDeployment;
    const changed = reported(deviceDeployment, body, nowMs);
    if ('because' in changed) return refuse.conflict(changed.because, undefined, abortedDetail);
    store.deviceDeployments.save(deviceDeployment, changed, nowMs);
    return { status: 204 };
  },
);

export const putDeploymentLog = defineEndpoint(
  'put-deployment-log',
  ({ parameters, body }, { store, device }) => {
    const deviceDeployment = store.deviceDeployments.findOffered(parameters.id, device.id);
    if (!deviceDeployment) return noSuchDeployment;
    store.deviceDeployments.saveLog(deviceDeployment, logText(body));
    return { status: 204 };
  },
);

export const getUpdateControlMap = defineEndpoint(
  'get-update-control-map',
  ({ parameters }, { store, device }) => {
    const deviceDeployment = store.deviceDeployments.findOffered(parameters.id, device.id);
    if (!deviceDeployment) return noSuchDeployment;
    if (isOver(deviceDeployment)) return endedDeployment;
    const map = controlMapOf(deviceDeployment.deployment);
    return { status: 200, body: map ? { update_control_map: map } : {} };
  },
);
