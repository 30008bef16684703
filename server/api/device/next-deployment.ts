/** Three doors to the next deployment, and one rule behind them. Spec: Device deployments v1, v2 */

import { pathOf } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import type { DeploymentInstructionsV1 } from '../../../fixtures/contract/resources.ts';
import { Refusal, refuse } from '../../http/refusal.ts';
import { defineEndpoint } from '../../pipeline/endpoint.ts';
import { artifactLink, type Link, makeLink } from '../../pipeline/links.ts';
import { controlMapOf } from '../../rules/control-map.ts';
import { offered, settled } from '../../rules/device-deployment.ts';
import { decideNext, type NextRequest, requestText } from '../../rules/next-deployment.ts';
import { type NoUpdate, noDeployment } from '../../rules/no-update.ts';
import { candidate, type StoredArtifact } from '../../store/artifacts.ts';
import { type StoredPart, servable } from '../../store/part-rows.ts';
import { beginDeltaJob } from './delta-job.ts';
import { type DeviceContext, partToServe } from './part-to-serve.ts';

export const getNextDeployment = defineEndpoint('get-next-deployment', ({ query }, context) => {
  const served = serveNext(context, nextRequest({ ...query }));
  return answerV1(served);
});

export const postNextDeployment = defineEndpoint('post-next-deployment', ({ body }, context) => {
  return answerV1(serveNext(context, nextRequest(body)));
});

export const postNextDeploymentV2 = defineEndpoint(
  'post-next-deployment-v2',
  ({ body }, context) => {
    const takesControlMap = body.update_control_map === true;
    const served = serveNext(context, nextRequest(body.device_provides, takesControlMap));
    if (served instanceof Refusal || 'status' in served) return served;
    const map = takesControlMap ? controlMapOf(served.part.deployment) : undefined;
    const mapField = map && { update_control_map: map };
    const isMapOnTop = context.settings.variants.has('top-level-control-map');
    const { id: _v1Only, ...artifact } = served.artifact;
    return {
      status: 200,
      body: {
        id: served.part.deployment.id,
        ...(isMapOnTop && mapField),
        artifact: { ...artifact, ...mapField },
      },
    };
  },
);

interface Served {
  readonly part: StoredPart;
  readonly artifact: DeploymentInstructionsV1['artifact'] & { readonly source: Link };
}

function nextRequest(
  provides: { artifact_name: string; device_type: string } & Record<string, string>,
  takesControlMap = false,
): NextRequest {
  const { artifact_name: artifactName, device_type: deviceType } = provides;
  return { artifactName, deviceType, provides, takesControlMap };
}

/** The answer without an update; the reason is for the journal. */
interface NoContent {
  readonly status: 204;
  readonly noUpdate: NoUpdate;
}

/** One object for all polls, as nearly all are answered so. */
const nothingOpen: NoContent = { status: 204, noUpdate: noDeployment };

function answerV1(served: Served | Refusal | NoContent) {
  if (served instanceof Refusal || 'status' in served) return served;
  const body = { id: served.part.deployment.id, artifact: served.artifact };
  return { status: 200, body } as const;
}

/** What the device is served, or the answer that there is no update for it. */
function serveNext(context: DeviceContext, request: NextRequest): Served | Refusal | NoContent {
  const { store, device } = context;
  if (!store.parts.mayHaveWork(device.id)) return nothingOpen;
  return store.atomically(() => {
    const { part, noUpdate } = partToServe(context);
    if (noUpdate) return { status: 204, noUpdate };
    const { configuration, artifactName } = part.deployment;
    const release = configuration ? [] : store.artifacts.findByName(artifactName);
    return settle(context, request, { part, release });
  });
}

function settle(
  context: DeviceContext,
  request: NextRequest,
  { part, release }: { part: StoredPart; release: readonly StoredArtifact[] },
): Served | Refusal | NoContent {
  const { parts } = context.store;
  const { nowMs } = context;
  const decided = decideNext(servable(part), request, release.map(candidate));
  if (decided.decision === 'conflict') {
    parts.save(part, settled(part, 'failure', nowMs), nowMs);
    return refuse.conflict(
      'conflicting request data: it differs from the request for which this deployment was offered',
    );
  }
  const artifactId = 'artifactId' in decided ? decided.artifactId : undefined;
  const isNew = part.request === undefined || part.artifactId !== artifactId;
  const offer = { request: requestText(request), artifactId, nowMs };
  const served = isNew ? offered(part, offer) : part;
  if (decided.decision === 'serve') {
    if (isNew) parts.save(part, served, nowMs);
    return instructed(context, request, { part, release, artifactId });
  }
  const { rule } = decided;
  const status = rule === 'already-installed' ? rule : 'noartifact';
  parts.save(part, settled(served, status, nowMs), nowMs);
  return { status: 204, noUpdate: { rule, deploymentId: part.deployment.id } };
}

function instructed(
  context: DeviceContext,
  request: NextRequest,
  {
    part,
    release,
    artifactId,
  }: { part: StoredPart; release: readonly StoredArtifact[]; artifactId: string | undefined },
): Served {
  const { deployment, deviceId } = part;
  const chosen = release.find(({ artifact }) => artifact.id === artifactId)?.artifact;
  const configurationPath = pathOf(operations['download-configuration'], {
    deployment_id: deployment.id,
    device_type: request.deviceType,
    device_id: deviceId,
  });
  if (chosen && part.request === undefined) {
    beginDeltaJob(context, request, { deployment, target: chosen });
  }
  const artifact = {
    id: chosen?.id ?? `${deployment.id}${deviceId}`,
    artifact_name: deployment.artifactName,
    source: chosen ? artifactLink(context, chosen.id) : makeLink(context, configurationPath),
    device_types_compatible: chosen?.device_types_compatible ?? [request.deviceType],
  };
  return { part, artifact };
}
