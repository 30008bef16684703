/**
 * Defects in suspended tenants, and in the isolation between tenants.
 * Spec: Device authentication; Authentication
 */
import { ownResponse, tokenOf, withStatus } from '../alter.ts';
import { statusBecomes } from '../alterations.ts';
import type { Alteration, Defect } from '../defect.ts';

/**
 * Returns a known artifact to every caller that names its ID, even if the target answers that the
 * artifact does not exist for the caller's tenant.
 */
function sharedArtifacts(): Alteration {
  const links = new Map<string, string>();
  return {
    response: (response, { operation, parameters, ...request }) => {
      const createdId = response.headers.location?.split('/').at(-1);
      if (operation === 'upload-artifact' && response.status === 201 && createdId !== undefined) {
        links.set(createdId, tokenOf(request));
      }
      if (operation === 'delete-artifact') links.delete(parameters.id ?? '');
      const isKnown = links.has(parameters.id ?? '');
      return response.status === 404 && isKnown ? withStatus(response, 200) : response;
    },
  };
}

/** Accepts reports for every deployment that any device was offered. */
function sharedDeployments(): Alteration {
  const holders = new Map<string, string>();
  return {
    response: (response, request) => {
      const { parameters } = request;
      const token = tokenOf(request);
      if (request.operation !== 'put-deployment-log') {
        const id = /"id":"([0-9a-f-]{36})"/.exec(response.body.toString())?.[1];
        if (response.status === 200 && id !== undefined) holders.set(id, token);
        return response;
      }
      const holder = holders.get(parameters.id ?? '');
      const isForeign = holder !== undefined && tenantOf(holder) !== tenantOf(token);
      return response.status === 404 && isForeign ? ownResponse(204) : response;
    },
  };
}

/** Returns the tenant in the claims of a reference server's token; empty if there is none. */
function tenantOf(token: string): string {
  const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
  return /"[\w./-]*tenant[\w]*":"([^"]+)"/.exec(claims)?.[1] ?? '';
}

export const tenantDefects: readonly Defect[] = [
  {
    id: 'locked-out-device-is-401',
    title: 'A device whose tenant is suspended is answered with 401, as if a user could accept it.',
    violates: ['auth.forbidden-is-403'],
    operations: ['post-auth-request'],
    alter: statusBecomes(403, 401),
  },
  {
    id: 'locked-out-device-is-let-in',
    title: 'A device whose tenant is suspended gets a token.',
    violates: ['auth.forbidden-is-403'],
    operations: ['post-auth-request'],
    alter: statusBecomes(403, 200),
  },
  {
    id: 'artifacts-are-of-all-tenants',
    title: 'A device is shown an artifact of another tenant.',
    violates: ['tenants.are-apart'],
    operations: ['get-artifact', 'upload-artifact', 'delete-artifact'],
    alter: sharedArtifacts,
  },
  {
    id: 'logs-are-taken-for-all-tenants',
    title: 'A device uploads the log of a deployment of another tenant.',
    violates: ['tenants.are-apart'],
    operations: ['get-next-deployment', 'put-deployment-log'],
    alter: sharedDeployments,
  },
];
