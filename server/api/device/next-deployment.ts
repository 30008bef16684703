/**
 * Handles the three operations that return the next deployment. All three use one rule.
 * Spec: Device deployments v1, v2
 */
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import type { DeploymentInstructionsV1 } from '../../../fixtures/contract/resources.ts';
import { Refusal } from '../../http/refusal.ts';
import { type DeviceContext, defineEndpoint } from '../../pipeline/endpoint.ts';
import { artifactLink, type ExpiringLink, makeLink } from '../../pipeline/links.ts';
import { controlMapOf } from '../../rules/control-map.ts';
import { decideInstruction, type Instruction } from '../../rules/instruction.ts';
import { type NextRequest, parsePollData, pollDataText } from '../../rules/next-deployment.ts';
import { type NoUpdate, noDeployment, withInstalledArtifact } from '../../rules/no-update.ts';
import { candidate, type StoredArtifact } from '../../store/artifacts.ts';
import type {
  DeviceDeploymentWithFacts,
  StoredDeviceDeployment,
} from '../../store/device-deployment-rows.ts';
import { refuseOtherData } from './conflict-refusal.ts';
import { beginDeltaJob } from './delta-job.ts';

export const getNextDeployment = defineEndpoint('get-next-deployment', ({ query }, context) => {
  const nextDeployment = serveNext(context, nextRequest({ ...query }));
  return v1Response(nextDeployment);
});

export const postNextDeployment = defineEndpoint('post-next-deployment', ({ body }, context) => {
  return v1Response(serveNext(context, nextRequest(body)));
});

export const postNextDeploymentV2 = defineEndpoint(
  'post-next-deployment-v2',
  ({ body }, context) => {
    const wantsControlMap = body.update_control_map === true;
    const nextDeployment = serveNext(context, nextRequest(body.device_provides, wantsControlMap));
    if (isWithoutUpdate(nextDeployment)) return nextDeployment;
    const map = wantsControlMap
      ? controlMapOf(nextDeployment.deviceDeployment.deployment)
      : undefined;
    const mapField = map && { update_control_map: map };
    const isMapOnTop = context.settings.dialects.has('top-level-control-map');
    const { id: _id, ...artifact } = nextDeployment.artifact;
    return {
      status: 200,
      body: {
        id: nextDeployment.deviceDeployment.deployment.id,
        ...(isMapOnTop && mapField),
        artifact: { ...artifact, ...mapField },
      },
    };
  },
);

interface ServedArtifact {
  readonly deviceDeployment: StoredDeviceDeployment;
  readonly artifact: DeploymentInstructionsV1['artifact'] & { readonly source: ExpiringLink };
}

function nextRequest(
  provides: { artifact_name: string; device_type: string } & Record<string, string>,
  wantsControlMap = false,
): NextRequest {
  const { artifact_name: artifactName, device_type: deviceType } = provides;
  return { artifactName, deviceType, provides, wantsControlMap };
}

/** The response to a poll without an update. The reason is recorded in the journal only. */
interface NoContent {
  readonly status: 204;
  readonly noUpdate: NoUpdate;
}

/**
 * One shared object for the polls of all devices that are in no deployment, which are the most
 * frequent ones.
 */
const noOpenDeployment: NoContent = { status: 204, noUpdate: noDeployment };

function isWithoutUpdate(
  served: ServedArtifact | Refusal | NoContent,
): served is Refusal | NoContent {
  return served instanceof Refusal || 'status' in served;
}

function v1Response(served: ServedArtifact | Refusal | NoContent) {
  if (isWithoutUpdate(served)) return served;
  const body = { id: served.deviceDeployment.deployment.id, artifact: served.artifact };
  return { status: 200, body } as const;
}

/** Returns the deployment to install, a response that says there is no update, or a refusal. */
function serveNext(
  context: DeviceContext,
  request: NextRequest,
): ServedArtifact | Refusal | NoContent {
  const { store, device, nowMs } = context;
  const noUpdate = store.deviceDeployments.cachedNoUpdate(device.id);
  if (noUpdate) return noContentFor(noUpdate, request);
  return store.atomically(() => {
    const instruction = decideInstruction({
      request,
      ...store.deviceDeployments.listOpen(device.id),
      nowMs,
      newest: () => store.deviceDeployments.newest(device.id, 1).deviceDeployments[0],
      candidatesOf: ({ deployment }) => releaseOf(context, deployment).map(candidate),
    });
    if ('changed' in instruction && instruction.changed) {
      store.deviceDeployments.save(instruction.deviceDeployment, instruction.changed, nowMs);
    }
    return applyInstruction(context, request, instruction);
  });
}

/** Returns the artifacts of the deployment's release; none for a configuration. */
function releaseOf(
  { store }: DeviceContext,
  { type, artifactName }: DeviceDeploymentWithFacts['deployment'],
): readonly StoredArtifact[] {
  return type === 'software' ? store.artifacts.findByName(artifactName) : [];
}

function applyInstruction(
  context: DeviceContext,
  request: NextRequest,
  instruction: Instruction<DeviceDeploymentWithFacts>,
): ServedArtifact | Refusal | NoContent {
  switch (instruction.decision) {
    case 'serve': {
      const { deviceDeployment, artifactId, startsAttempt } = instruction;
      const { deployment } = deviceDeployment;
      const release = releaseOf(context, deployment);
      const chosenArtifact = release.find(({ artifact }) => artifact.id === artifactId)?.artifact;
      if (chosenArtifact && startsAttempt)
        beginDeltaJob(context, request, { deployment, target: chosenArtifact });
      return instructionsFor(context, request, { deviceDeployment, chosen: chosenArtifact });
    }
    case 'conflict':
      return refuseOtherData(
        parsePollData(instruction.deviceDeployment.pollData ?? pollDataText(request)),
        request,
      );
    case 'nothing':
      // Caches that no deployment is open for the device, so that its next polls need no query.
      context.store.deviceDeployments.cacheNoUpdate(context.device.id, instruction.noUpdate);
      return noContentFor(instruction.noUpdate, request);
    default:
      return { status: 204, noUpdate: instruction.noUpdate };
  }
}

function noContentFor(noUpdate: NoUpdate, { artifactName }: NextRequest): NoContent {
  if (noUpdate === noDeployment) return noOpenDeployment;
  return { status: 204, noUpdate: withInstalledArtifact(noUpdate, artifactName) };
}

function instructionsFor(
  context: DeviceContext,
  request: NextRequest,
  {
    deviceDeployment,
    chosen,
  }: { deviceDeployment: StoredDeviceDeployment; chosen: StoredArtifact['artifact'] | undefined },
): ServedArtifact {
  const { deployment, deviceId } = deviceDeployment;
  const configurationPath = pathOf(operations['download-configuration'], {
    deployment_id: deployment.id,
    device_type: request.deviceType,
    device_id: deviceId,
  });
  const artifact = {
    // A configuration has no artifact; the ID is its own in each deployment of each device.
    id: chosen?.id ?? `${deployment.id}${deviceId}`,
    artifact_name: deployment.artifactName,
    source: chosen ? artifactLink(context, chosen.id) : makeLink(context, configurationPath),
    device_types_compatible: chosen?.device_types_compatible ?? [request.deviceType],
  };
  return { deviceDeployment, artifact };
}
