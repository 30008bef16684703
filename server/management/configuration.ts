/** Settings of devices, for users: the same store that the device writes. */
import { audit, deviceObject, userActor } from '../audit.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { Refusal, refuse } from '../http/refusal.ts';
import { replaceSettings } from '../rules/configuration.ts';
import { openDeployment } from './deployments.ts';
import { iso } from './views.ts';

const noSuchDevice = refuse.notFound('there is no device of this id');

export const showConfiguration = defineEndpoint(
  'show-configuration',
  ({ parameters }, { store }) => {
    const device = store.devices.find(parameters.id);
    if (!device) return noSuchDevice;
    const stored = store.configurations.find(device.id);
    return {
      status: 200,
      body: {
        id: device.id,
        configured: { ...stored?.configured },
        reported: { ...stored?.reported },
        ...(stored?.deploymentId !== undefined && { deployment_id: stored.deploymentId }),
        updated_ts: iso(stored?.updatedMs ?? device.createdMs),
        ...(stored?.reportedMs !== undefined && { reported_ts: iso(stored.reportedMs) }),
      },
    };
  },
);

export const setConfiguration = defineEndpoint(
  'set-configuration',
  ({ parameters, body }, context) => {
    const { store, user, nowMs } = context;
    const device = store.devices.find(parameters.id);
    if (!device) return noSuchDevice;
    const replaced = replaceSettings(body);
    if ('because' in replaced) return refuse.malformed(`body: ${replaced.because}`);
    const current = store.configurations.find(device.id);
    const configured = replaced.settings;
    store.configurations.save(device.id, {
      reported: {},
      ...current,
      configured,
      updatedMs: nowMs,
    });
    audit(context, {
      actor: userActor(user),
      action: 'update',
      object: deviceObject(device),
      change: `configuration: ${JSON.stringify(configured)}`,
    });
    return { status: 204 };
  },
);

export const deployConfiguration = defineEndpoint(
  'deploy-configuration',
  ({ parameters }, context) => {
    const { store, random, nowMs } = context;
    const device = store.devices.find(parameters.id);
    if (!device) return noSuchDevice;
    const current = store.configurations.find(device.id);
    const configuration = current?.configured ?? {};
    const id = random.uuid();
    const name = `configuration-${id}`;
    const opened = openDeployment(context, {
      id,
      type: 'configuration',
      name,
      artifactName: name,
      deviceIds: [device.id],
      forceInstallation: false,
      configuration,
    });
    if (opened instanceof Refusal) return opened;
    store.configurations.save(device.id, {
      reported: {},
      updatedMs: nowMs,
      ...current,
      configured: configuration,
      deploymentId: id,
    });
    return { status: 200, body: { deployment_id: id } };
  },
);
