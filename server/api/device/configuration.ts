/**
 * Reads and writes the configuration of a device, and serves it as an artifact.
 * Spec: Device configuration
 */
import { writeArtifact } from '../../../fixtures/formats/mender-artifact.ts';
import { refuse } from '../../http/refusal.ts';
import { type DeviceContext, defineEndpoint } from '../../pipeline/endpoint.ts';
import { type ConfigurationPairs, keepPairs, mergePairs } from '../../rules/configuration.ts';
import type { Problem } from '../../rules/problem.ts';
import { isProvisioned, notProvisioned } from '../../rules/provisioning.ts';
import type { StoredConfiguration } from '../../store/configurations.ts';

export const getConfiguration = defineEndpoint('get-configuration', (_input, context) => {
  const configuration = context.store.configurations.find(context.device.id);
  if (!configuration && !hasRecord(context)) {
    return refuse.notFound('the device has no configuration yet; try again later', notProvisioned);
  }
  return { status: 200, body: { ...configuration?.configured } };
});

/**
 * Returns true if the device has a configuration record. An accepted device always has one, except
 * for a while under the dialect asynchronous-provisioning.
 */
function hasRecord({ store, device, settings, nowMs }: DeviceContext): boolean {
  return isProvisioned(store.devices.find(device.id) ?? {}, settings, nowMs);
}

export const putConfiguration = defineEndpoint('put-configuration', ({ body }, context) => {
  if (!body) return { status: 204 };
  const { store, device, settings } = context;
  const current = store.configurations.find(device.id);
  const isSplit = settings.dialects.has('split-configuration');
  const result = isSplit
    ? replaceReported(context, current, body)
    : mergeBoth(context, current, body);
  if ('problem' in result) return refuse.malformedAt('body', result);
  store.configurations.save(device.id, result);
  return { status: 204 };
});

type ConfigurationResult = StoredConfiguration | Problem;

/**
 * Merges the change into the configured and the reported pairs: in the contract both are one
 * store, which the device also writes.
 */
function mergeBoth(
  { nowMs }: DeviceContext,
  current: StoredConfiguration | undefined,
  change: ConfigurationPairs,
): ConfigurationResult {
  const configured = mergePairs(current?.configured ?? {}, change);
  if ('problem' in configured) return configured;
  const mergedReported = mergePairs(current?.reported ?? {}, change);
  if ('problem' in mergedReported) return mergedReported;
  return {
    ...current,
    configured: configured.pairs,
    reported: mergedReported.pairs,
    updatedMs: nowMs,
    reportedMs: nowMs,
  };
}

/**
 * Replaces the reported pairs only. In the dialect split-configuration they are separate from
 * the configured ones.
 */
function replaceReported(
  { nowMs }: DeviceContext,
  current: StoredConfiguration | undefined,
  pairs: ConfigurationPairs,
): ConfigurationResult {
  const kept = keepPairs(pairs);
  if ('problem' in kept) return kept;
  const stored = current ?? { configured: {}, updatedMs: nowMs };
  return { ...stored, reported: kept.pairs, reportedMs: nowMs };
}

const linkOfNoDevice = refuse.forbidden('the device in this link was decommissioned', {
  path: 'path.device_id',
  expected: 'the ID of a device that is not decommissioned',
});

/**
 * Serves the artifact of a configuration deployment, which is generated when the device fetches it.
 */
export const downloadConfiguration = defineEndpoint(
  'download-configuration',
  async ({ parameters }, { store }) => {
    const deviceDeployment = store.deviceDeployments.find(
      parameters.deployment_id,
      parameters.device_id,
    );
    const configuration =
      deviceDeployment && store.deployments.configurationOf(deviceDeployment.deployment);
    if (!deviceDeployment || !configuration)
      return refuse.notFound('this link does not name a configuration deployment', {
        path: 'path.deployment_id',
        expected: 'the ID of a configuration deployment to this device',
      });
    if (!store.devices.find(deviceDeployment.deviceId)) return linkOfNoDevice;
    const name = deviceDeployment.deployment.artifactName;
    const file = await writeArtifact({
      name,
      deviceTypes: [parameters.device_type],
      payloadType: 'mender-configure',
      metaData: configuration,
      provides: { 'data-partition.mender-configure.version': name },
      clearsProvides: ['data-partition.mender-configure.*'],
      modifiedMs: deviceDeployment.deployment.createdMs,
    });
    const headers = { 'Content-Disposition': 'attachment; filename="artifact.mender"' };
    return { status: 200, headers, body: file };
  },
);
