/** Cases that need control of faults, load, roles, tenants or time to act. Spec: Errors */
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { type Coverage, defineUnreachable } from '../case.ts';

const everyOperation = Object.keys(operations) as OperationId[];

function onEvery(status: number): readonly Coverage[] {
  return everyOperation.map((id): Coverage => `${id} ${status}`);
}

/** Spec: Errors, "Common statuses" */
export const unreachableCases = [
  ...defineUnreachable({
    area: 'faults',
    name: 'Faults and load',
    start: 'a server whose faults and limits the suite controls',
    cases: [
      {
        id: 'unexpected-fault-is-500',
        title: 'An operation that meets a fault inside the server is answered 500.',
        requirements: ['errors.unexpected-is-500'],
        covers: onEvery(500),
        needs: ['fault-control'],
      },
      {
        id: 'too-many-requests-is-429',
        title: 'A caller that exceeds the rate is answered 429.',
        requirements: ['errors.too-many-requests-is-429'],
        covers: onEvery(429),
        needs: ['rate-control'],
      },
      {
        id: 'forbidden-by-role-is-403',
        title: 'A caller whose role does not allow the operation is answered 403.',
        requirements: ['errors.role-forbidden-is-403'],
        covers: onEvery(403),
        needs: ['role-control'],
      },
    ],
  }),
  ...defineUnreachable({
    area: 'tenants',
    name: 'Tenants',
    start: 'a server whose tenants the suite controls',
    cases: [
      {
        id: 'authentication-forbidden-is-403',
        title: 'A device for which authentication is forbidden is answered 403.',
        requirements: ['auth.forbidden-is-403'],
        covers: ['post-auth-request 403'],
        needs: ['tenant-control'],
      },
      {
        id: 'configuration-of-another-tenant',
        title: 'When the configuration download is answered 401, which the contract names.',
        requirements: ['download.unauthorized-is-401'],
        covers: ['download-configuration 401'],
        needs: ['tenant-control'],
      },
    ],
  }),
  ...defineUnreachable({
    area: 'time',
    name: 'The passing of time',
    start: 'a server whose clock the suite controls',
    cases: [
      {
        id: 'expired-token-is-refused',
        title: 'A token that is a week old is refused, and a new request renews it.',
        requirements: ['tokens.expired-is-refused'],
        needs: ['clock-control'],
      },
      {
        id: 'expired-artifact-link-is-refused',
        title: 'A link to an artifact file that has expired gives no file.',
        requirements: ['link.expired'],
        needs: ['clock-control'],
      },
      {
        id: 'expired-configuration-link-is-403',
        title: 'A configuration link that has expired, its signature intact, is answered 403.',
        requirements: ['download.expired-is-403'],
        needs: ['clock-control'],
      },
    ],
  }),
];
