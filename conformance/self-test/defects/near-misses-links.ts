/** Defects: links stop working before their stated expiry. */
import { isSuccess, objectOf, ownAnswer } from '../alter.ts';
import type { Alteration, Defect, ProxiedAnswer, ProxiedRequest } from '../defect.ts';

/** Returns the link to a configuration that an answer offers. */
export function offeredLink(answer: ProxiedAnswer): URL | undefined {
  const { artifact } = objectOf(answer) as { artifact?: { source?: { uri?: unknown } } };
  const uri = String(artifact?.source?.uri);
  return uri.includes('/download/configuration/') ? new URL(uri) : undefined;
}

/** Ends links early: `ends` returns the target of the links to end, `leadsTo` that of a request. */
function linksEnd(
  ends: (request: ProxiedRequest, answer: ProxiedAnswer) => string | undefined,
  leadsTo: (request: ProxiedRequest) => string | undefined,
): () => Alteration {
  return () => {
    const ended = new Set<string>();
    return {
      answer: (answer, request) => {
        const what = isSuccess(answer) ? ends(request, answer) : undefined;
        if (what !== undefined) ended.add(what);
        const isOver = ended.has(leadsTo(request) ?? '');
        return isOver ? ownAnswer(403, { error: 'the link is over', request_id: 'r' }) : answer;
      },
    };
  };
}

/** Ends the links to an artifact file once `isDone` matches a request on the artifact. */
function artifactLinksEnd(isDone: (request: ProxiedRequest) => boolean): () => Alteration {
  return () => {
    const links = new Map<string, string>();
    const ended = new Set<string>();
    return {
      answer: (answer, request) => {
        const id = request.parameters.id ?? '';
        if (isDone(request) && links.has(id)) ended.add(links.get(id) ?? '');
        if (request.operation === 'get-artifact-link') {
          const { uri } = objectOf(answer);
          if (typeof uri === 'string') links.set(id, new URL(uri).search);
        }
        const isOver = ended.has(`?${request.query}`);
        return isOver ? ownAnswer(403, { error: 'the link is over', request_id: 'r' }) : answer;
      },
    };
  };
}

/** Returns the device id in the claims of a token. */
function deviceOf({ body }: ProxiedAnswer): string | undefined {
  const [, claims = ''] = body.toString().split('.');
  return /"sub":"([^"]+)"/.exec(Buffer.from(claims, 'base64url').toString())?.[1];
}

/** Spec: ArtifactLink; Device deployments v1 */
export const nearMissLinkDefects: readonly Defect[] = [
  {
    id: 'link-ends-with-an-edit',
    title: 'A link to an artifact file expires when the artifact is edited.',
    violates: ['link.outlives-changes'],
    operations: ['get-artifact-link', 'update-artifact', 'download-artifact'],
    alter: artifactLinksEnd(({ operation }) => operation === 'update-artifact'),
  },
  {
    id: 'configuration-link-ends-with-a-new-setting',
    title: 'A link to a configuration expires when a user changes the configuration.',
    violates: ['download.outlives-changes'],
    operations: ['set-configuration', 'get-next-deployment', 'download-configuration'],
    alter: endsAfterTheOffer('set-configuration', ({ parameters }) => parameters.id),
  },
  {
    id: 'configuration-link-ends-with-a-new-token',
    title: 'A link to a configuration expires when the device gets another token.',
    violates: ['download.outlives-changes'],
    operations: ['post-auth-request', 'get-next-deployment', 'download-configuration'],
    alter: endsAfterTheOffer('post-auth-request', (_, answer) => deviceOf(answer)),
  },
  {
    id: 'configuration-link-ends-with-a-report',
    title: 'A link to a configuration expires with the first report on its deployment.',
    violates: ['download.outlives-changes'],
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
  act: NonNullable<ProxiedRequest['operation']>,
  deviceIn: (request: ProxiedRequest, answer: ProxiedAnswer) => string | undefined,
): () => Alteration {
  return () => {
    const offered = new Set<string>();
    const hooks = linksEnd(
      (request, answer) => {
        const device = deviceIn(request, answer) ?? '';
        const isAfter = request.operation === act && offered.has(device);
        return isAfter ? device : undefined;
      },
      ({ parameters }) => parameters.device_id,
    )();
    return {
      answer: (answer, request, ask) => {
        const device = offeredLink(answer)?.pathname.split('/').at(-1);
        if (device !== undefined) offered.add(device);
        return hooks.answer?.(answer, request, ask) ?? answer;
      },
    };
  };
}
