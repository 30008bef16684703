/** Defects: links stop working before their stated expiry. */
import { isSuccess, objectOf, ownResponse } from '../alter.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';

/** Returns the link to a configuration that a response offers. */
export function offeredLink(response: ProxiedResponse): URL | undefined {
  const { artifact } = objectOf(response) as { artifact?: { source?: { uri?: unknown } } };
  const uri = String(artifact?.source?.uri);
  return uri.includes('/download/configuration/') ? new URL(uri) : undefined;
}

/** Ends links early: `ends` returns the target of the links to end, `leadsTo` that of a request. */
function linksEnd(
  ends: (request: ProxiedRequest, response: ProxiedResponse) => string | undefined,
  leadsTo: (request: ProxiedRequest) => string | undefined,
): () => Alteration {
  return () => {
    const endedIds = new Set<string>();
    return {
      response: (response, request) => {
        const violation = isSuccess(response) ? ends(request, response) : undefined;
        if (violation !== undefined) endedIds.add(violation);
        const isOver = endedIds.has(leadsTo(request) ?? '');
        return isOver ? ownResponse(403, { error: 'the link is over', request_id: 'r' }) : response;
      },
    };
  };
}

/** Ends the links to an artifact file once `isDone` matches a request on the artifact. */
function artifactLinksEnd(isDone: (request: ProxiedRequest) => boolean): () => Alteration {
  return () => {
    const links = new Map<string, readonly string[]>();
    const endedLinks = new Set<string>();
    return {
      response: (response, request) => {
        const id = request.parameters.id ?? '';
        const artifactLinks = links.get(id) ?? [];
        if (isDone(request)) for (const link of artifactLinks) endedLinks.add(link);
        if (request.operation === 'get-artifact-link') {
          const { uri } = objectOf(response);
          if (typeof uri === 'string') links.set(id, [...artifactLinks, new URL(uri).search]);
        }
        const isOver = endedLinks.has(`?${request.query}`);
        return isOver ? ownResponse(403, { error: 'the link is over', request_id: 'r' }) : response;
      },
    };
  };
}

/** Returns the device ID in the claims of a token. */
function deviceOf({ body }: ProxiedResponse): string | undefined {
  const [, claims = ''] = body.toString().split('.');
  return /"sub":"([^"]+)"/.exec(Buffer.from(claims, 'base64url').toString())?.[1];
}

/** Spec: ArtifactLink; Device deployments v1 */
export const nearMissLinkDefects: readonly Defect[] = [
  {
    id: 'link-ends-with-an-edit',
    title: 'A link to an artifact file expires when the artifact is edited.',
    violates: ['link.valid-until-expiry'],
    operations: ['get-artifact-link', 'update-artifact', 'download-artifact'],
    alter: artifactLinksEnd(({ operation }) => operation === 'update-artifact'),
  },
  {
    id: 'configuration-link-ends-with-a-new-setting',
    title: 'A link to a configuration expires when a user changes the configuration.',
    violates: ['download.valid-until-expiry'],
    operations: ['set-configuration', 'get-next-deployment', 'download-configuration'],
    alter: endsAfterTheOffer('set-configuration', ({ parameters }) => parameters.id),
  },
  {
    id: 'configuration-link-ends-with-a-new-token',
    title: 'A link to a configuration expires when the device gets another token.',
    violates: ['download.valid-until-expiry'],
    operations: ['post-auth-request', 'get-next-deployment', 'download-configuration'],
    alter: endsAfterTheOffer('post-auth-request', (_, response) => deviceOf(response)),
  },
  {
    id: 'configuration-link-ends-with-a-report',
    title: 'A link to a configuration expires with the first report on its deployment.',
    violates: ['download.valid-until-expiry'],
    operations: ['put-deployment-status', 'download-configuration'],
    alter: linksEnd(
      ({ operation, parameters }) =>
        operation === 'put-deployment-status' ? parameters.id : undefined,
      ({ parameters }) => parameters.deployment_id,
    ),
  },
];

/** Ends the links to a device's configuration after an operation on the device. */
function endsAfterTheOffer(
  operation: NonNullable<ProxiedRequest['operation']>,
  deviceIn: (request: ProxiedRequest, response: ProxiedResponse) => string | undefined,
): () => Alteration {
  return () => {
    const offeredUris = new Set<string>();
    const ended = linksEnd(
      (request, response) => {
        const device = deviceIn(request, response) ?? '';
        const isAfter = request.operation === operation && offeredUris.has(device);
        return isAfter ? device : undefined;
      },
      ({ parameters }) => parameters.device_id,
    )();
    return {
      response: (response, request, send) => {
        const device = offeredLink(response)?.pathname.split('/').at(-1);
        if (device !== undefined) offeredUris.add(device);
        return ended.response?.(response, request, send) ?? response;
      },
    };
  };
}
