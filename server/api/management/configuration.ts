/** Reads, writes and deploys the configuration of devices for users. */
import { Refusal, refuse } from '../../http/refusal.ts';
import { defineEndpoint, type UserContext } from '../../pipeline/endpoint.ts';
import { keepPairs, replacePairs } from '../../rules/configuration.ts';
import { provisioningDelayMs } from '../../rules/provisioning.ts';
import type { StoredConfiguration } from '../../store/configurations.ts';
import type { StoredDevice } from '../../store/devices.ts';
import { audit, deviceObject, userActor } from '../../tenants/audit.ts';
import { ifGiven } from '../optional.ts';
import { createUniqueDeployment } from './new-deployment.ts';
import { provisionedDevice } from './provisioned-devices.ts';
import { iso } from './views.ts';
import { visibleDevice } from './visible-devices.ts';

/** A device and its stored configuration. */
interface ConfiguredDevice {
  readonly device: StoredDevice;
  readonly stored: StoredConfiguration | undefined;
}

export const showConfiguration = defineEndpoint('show-configuration', ({ parameters }, context) => {
  const configuration = configurationOf(context, parameters.id);
  if (configuration instanceof Refusal) return configuration;
  const { device, stored } = configuration;
  return {
    status: 200,
    body: {
      id: device.id,
      configured: { ...stored?.configured },
      reported: { ...stored?.reported },
      deployment_id: stored?.deploymentId,
      updated_ts: iso(stored?.updatedMs ?? device.createdMs),
      reported_ts: ifGiven(stored?.reportedMs, iso),
    },
  };
});

export const setConfiguration = defineEndpoint(
  'set-configuration',
  ({ parameters, body }, context) => {
    const { store, user, settings, nowMs } = context;
    const device = visibleDevice(context, parameters.id);
    if (device instanceof Refusal) return device;
    const isSplit = settings.dialects.has('split-configuration');
    const replacement = isSplit ? keepPairs(body) : replacePairs(body);
    if ('problem' in replacement) return refuse.malformedAt('body', replacement);
    const current = store.configurations.find(device.id);
    const configured = replacement.pairs;
    store.configurations.save(device.id, {
      reported: {},
      ...current,
      configured,
      updatedMs: nowMs,
    });
    audit(context, {
      actor: userActor(user),
      action: 'update',
      wideAction: 'set_configuration',
      object: deviceObject(device),
      change: `configuration: ${JSON.stringify(configured)}`,
      wideEntry: () => ({ change: JSON.stringify(configured) }),
    });
    return { status: 204 };
  },
);

export const deployConfiguration = defineEndpoint(
  'deploy-configuration',
  ({ parameters, body }, context) => {
    const { store, sockets, user, random, settings, nowMs } = context;
    const deviceConfiguration = configurationOf(context, parameters.id);
    if (deviceConfiguration instanceof Refusal) return deviceConfiguration;
    const { device, stored } = deviceConfiguration;
    const delayMs = provisioningDelayMs(settings);
    const configuration = stored?.configured ?? {};
    const id = random.uuid();
    const deployment = {
      id,
      name: `configuration-${id}`,
      artifactName: `configuration-${id}`,
      type: 'configuration',
      deviceIds: [device.id],
      forceInstallation: false,
      retries: body.retries ?? 0,
      configuration,
      nowMs: nowMs + delayMs,
    } as const;
    const deploymentId = createUniqueDeployment(context, deployment, {
      wideAction: 'deploy_configuration',
      wideEntry: () => ({
        object: deviceObject(device),
        change: JSON.stringify(configuration),
      }),
    });
    if (deploymentId instanceof Refusal) return deploymentId;
    store.configurations.noteDeployment(device.id, id, nowMs);
    // A connected device is notified, so that it checks at once instead of at its next poll.
    if (delayMs === 0) sockets.command(device.id, 'check-update', user.id);
    return { status: 200, body: { deployment_id: id } };
  },
);

/**
 * Returns the configuration of a device. It exists once the device is accepted, or earlier if the
 * device or a user has written it.
 */
function configurationOf(context: UserContext, id: string): ConfiguredDevice | Refusal {
  const configuration = context.store.configurations.find(id);
  const device = configuration ? visibleDevice(context, id) : provisionedDevice(context, id);
  return device instanceof Refusal ? device : { device, stored: configuration };
}
