/** A device's settings, and their delivery as an artifact. Spec: Device configuration */
import { writeArtifact } from '../../fixtures/formats/mender-artifact.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { refuse } from '../http/refusal.ts';
import { mergeSettings } from '../rules/configuration.ts';

export const getConfiguration = defineEndpoint('get-configuration', (_input, { store, device }) => {
  return { status: 200, body: { ...store.configurations.find(device.id)?.configured } };
});

export const putConfiguration = defineEndpoint(
  'put-configuration',
  ({ body }, { store, device, nowMs }) => {
    if (!body) return { status: 204 };
    const current = store.configurations.find(device.id);
    const configured = mergeSettings(current?.configured ?? {}, body);
    if ('because' in configured) return refuse.malformed(`body: ${configured.because}`);
    const reported = mergeSettings(current?.reported ?? {}, body);
    if ('because' in reported) return refuse.malformed(`body: ${reported.because}`);
    store.configurations.save(device.id, {
      ...current,
      configured: configured.settings,
      reported: reported.settings,
      updatedMs: nowMs,
      reportedMs: nowMs,
    });
    return { status: 204 };
  },
);

/** The artifact of a configuration deployment, made when it is fetched. */
export const downloadConfiguration = defineEndpoint(
  'download-configuration',
  async ({ parameters }, { store }) => {
    const part = store.parts.find(parameters.deployment_id, parameters.device_id);
    const settings = part?.deployment.configuration;
    if (!part || !settings) return refuse.notFound('there is no configuration deployment here');
    const name = part.deployment.artifactName;
    const file = await writeArtifact({
      name,
      deviceTypes: [parameters.device_type],
      payloadType: 'mender-configure',
      metaData: settings,
      provides: { 'data-partition.mender-configure.version': name },
      clearsProvides: ['data-partition.mender-configure.*'],
      modifiedMs: part.deployment.createdMs,
    });
    const headers = { 'Content-Disposition': 'attachment; filename="artifact.mender"' };
    return { status: 200, headers, body: file };
  },
);
