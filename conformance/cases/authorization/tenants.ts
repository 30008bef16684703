/** Cases: isolation between tenants, and suspended tenants. Spec: Authentication; Errors */
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import { expectErrorBody } from '../../context/error-body.ts';
import { configurationLink, deviceCalls } from '../../context/every-call.ts';
import {
  acceptedDevice,
  activeDeployment,
  factoryProvides,
  StartStateNotReached,
} from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { type CoveredStatus, defineScenario } from '../../suite/case.ts';
import type { ApiCaller } from '../../target/call.ts';
import {
  bodyIncludes,
  expectEach,
  expectPresent,
  expectStatus,
  expectThat,
  observationOf,
  observedResponse,
  responseSummary,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';

const onDeviceOperations = (Object.keys(deviceCalls) as OperationId[]).map(
  (id): CoveredStatus => `${id} 403`,
);

async function arrangeSuspendedTenant(context: TestContext) {
  const device = await acceptedDevice(context);
  const link = await configurationLink(context, device);
  await context.control.suspend();
  return { device, link };
}

const lockedOut = defineScenario({
  area: 'tenants',
  name: 'A suspended tenant',
  start: 'an accepted device with a token and a link, whose tenant was then suspended',
  effect: 'write',
  needs: ['user', 'tenant-control'],
  arrange: arrangeSuspendedTenant,
  cases: [
    {
      id: 'authentication-forbidden-is-403',
      title:
        'The authentication request of a device whose tenant is suspended is answered with 403.',
      requirements: ['auth.forbidden-is-403'],
      covers: ['post-auth-request 403'],
      run: async ({ device }) => expectStatus(await device.authenticate(), 403),
    },
    {
      id: 'authentication-forbidden-is-an-error-body',
      title: 'The 403 of an authentication request carries an Error body.',
      requirements: ['errors.body-is-error'],
      run: async ({ device }) => {
        expectErrorBody(await device.authenticate());
      },
    },
    {
      id: 'token-of-a-suspended-tenant',
      title: 'How every operation answers a device whose tenant is suspended.',
      requirements: ['errors.device-forbidden'],
      covers: onDeviceOperations,
      observe: async ({ device }, context) => {
        const countByStatus = new Map<number, number>();
        for (const call of Object.values(context.offered(deviceCalls))) {
          const { status } = await call(context.caller(device.token));
          countByStatus.set(status, (countByStatus.get(status) ?? 0) + 1);
        }
        return observationOf(
          [...countByStatus].map(([status, count]) => `${count} times ${status}`).join(', '),
        );
      },
    },
    {
      id: 'configuration-of-a-suspended-tenant',
      title: 'How a configuration link answers once the tenant of its device is suspended.',
      requirements: ['download.unauthorized-is-401'],
      covers: ['download-configuration 401'],
      observe: async ({ link }, context) => {
        if (link === undefined) throw new StartStateNotReached('a link', 'there is none');
        return observedResponse(await context.client.send({ method: 'GET', url: link }));
      },
    },
  ],
});

/** Arranges a device in a deployment of its tenant, and a device and a user of another tenant. */
async function neighbours(context: TestContext) {
  const owner = await activeDeployment(context);
  const elsewhere = await context.inNewTenant();
  const foreignDevice = await acceptedDevice(elsewhere);
  return { owner, foreignDevice, otherUser: elsewhere.admin.caller };
}

type CallWithIds = (
  caller: ApiCaller,
  ids: { readonly artifact: string; readonly deployment: string },
) => Promise<HttpResponse>;

const messages = [{ timestamp: '2026-01-31T12:00:00Z', level: 'info', message: 'text' }];

/** Refusals that do not reveal the existence of a resource. */
const refusals = [400, 401, 403, 404] as const;

/** The calls that name a resource of one tenant. */
export const namedResources: Readonly<Partial<Record<OperationId, CallWithIds>>> = {
  'get-artifact': (caller, { artifact: id }) => caller.call('get-artifact', { path: { id } }),
  'get-artifact-link': (caller, { artifact: id }) =>
    caller.call('get-artifact-link', { path: { id } }),
  'put-deployment-status': (caller, { deployment: id }) =>
    caller.call('put-deployment-status', { path: { id }, body: { status: 'installing' } }),
  'put-deployment-log': (caller, { deployment: id }) =>
    caller.call('put-deployment-log', { path: { id }, body: { messages } }),
  'get-update-control-map': (caller, { deployment: id }) =>
    caller.call('get-update-control-map', { path: { id } }),
};

const apart = defineScenario({
  area: 'tenants',
  name: 'Two tenants',
  start: 'a device in a deployment of its tenant, and a device and a user of another tenant',
  effect: 'write',
  needs: ['user', 'tenant-control'],
  arrange: neighbours,
  cases: [
    {
      id: 'things-of-another-tenant-are-refused',
      title: 'Artifacts and deployments of a tenant are refused to a device of another tenant.',
      requirements: ['tenants.are-apart'],
      run: async ({ owner, foreignDevice }, context) => {
        const ids = { artifact: owner.artifact.id, deployment: owner.id };
        const thief = context.caller(foreignDevice.token);
        await expectEach(refusals, context.offered(namedResources), (poll) => poll(thief, ids));
      },
    },
    {
      id: 'tenant-token-of-nobody',
      title: 'How a device whose tenant_token belongs to no tenant is answered.',
      requirements: ['auth.tenant-token-of-nobody'],
      observe: async (_, context) => {
        const device = await context.newDevice();
        const response = await device.authenticate({ members: { tenant_token: 'nobody' } });
        return observationOf(`answered with ${response.status}`);
      },
    },
    {
      id: 'deployment-of-another-tenant-is-not-offered',
      title: 'A device is offered no deployment of another tenant, by GET v1, POST v1 or POST v2.',
      requirements: ['tenants.are-apart'],
      run: async ({ owner, foreignDevice }, context) => {
        const polls = context.offered({
          'get-next-deployment': () =>
            foreignDevice.call('get-next-deployment', { query: factoryProvides }),
          'post-next-deployment': () =>
            foreignDevice.call('post-next-deployment', { body: factoryProvides }),
          'post-next-deployment-v2': () =>
            foreignDevice.call('post-next-deployment-v2', {
              body: { device_provides: factoryProvides },
            }),
        });
        for (const [way, poll] of Object.entries(polls)) {
          const isOffered = bodyIncludes(await poll(), owner.artifact.name);
          expectThat(!isOffered, `nothing of it by ${way}`, 'the deployment of the other tenant');
        }
      },
    },
    {
      id: 'audit-log-of-another-tenant-is-hidden',
      title: 'The audit log shows a user no deployment of another tenant.',
      requirements: ['tenants.are-apart'],
      needs: ['audit-log'],
      run: async ({ owner, otherUser }) => {
        const query = { object_id: owner.deploymentId };
        const entries = await otherUser.call('list-audit-logs', { query });
        const isShown = bodyIncludes(entries, owner.deploymentId);
        expectThat(!isShown, 'no entry of it', responseSummary(entries));
      },
    },
    {
      id: 'artifacts-of-another-tenant-are-not-listed',
      title: 'A device lists none of the artifacts of another tenant.',
      requirements: ['tenants.are-apart'],
      needs: ['artifact-listing'],
      run: async ({ owner, foreignDevice }) => {
        const [deviceType = ''] = owner.artifact.deviceTypes;
        const query = { release_name: owner.artifact.name, device_type: deviceType };
        const listResponse = await foreignDevice.call('list-artifacts', { query });
        const isListed = bodyIncludes(listResponse, owner.artifact.id);
        expectThat(!isListed, 'no artifact of it', responseSummary(listResponse));
      },
    },
  ],
});

/** Arranges a device with a token, and a device of another tenant with its identity and key. */
async function namesakes(context: TestContext) {
  const device = await acceptedDevice(context);
  const elsewhere = await context.inNewTenant();
  const { serial } = device.identity;
  return { device, elsewhere, otherDevice: await elsewhere.newDevice('ecdsa', { serial }) };
}

const sameIdentity = defineScenario({
  area: 'tenants',
  name: 'One identity in two tenants',
  start: 'an accepted device, whose identity and key a device of another tenant uses as well',
  effect: 'write',
  needs: ['user', 'tenant-control'],
  arrange: namesakes,
  cases: [
    {
      id: 'same-identity-in-two-tenants-is-two-devices',
      title: 'A device is recorded, and decided on, in its tenant, whomever another tenant knows.',
      requirements: [
        'auth.first-contact-is-401',
        'auth.first-contact-is-recorded',
        'auth.accepted-gets-token',
      ],
      run: async ({ device, elsewhere, otherDevice }) => {
        const { key } = device;
        const changes = { members: { pubkey: key.publicKeyPem }, signedBy: key };
        expectStatus(await otherDevice.authenticate(changes), 401);
        const foreignDeviceEntry = await elsewhere.eventually(
          () => elsewhere.admin.findDevice(otherDevice.identity, 'pending'),
          (each) => each !== undefined,
        );
        otherDevice.id = expectPresent(
          'a pending device in the other tenant',
          foreignDeviceEntry,
        ).id;
        await elsewhere.admin.decide(otherDevice.id, key, 'accepted');
        expectStatus(await otherDevice.authenticate(changes), 200);
        expectThat(otherDevice.id !== device.id, 'two devices', `one device ${device.id}`);
      },
    },
  ],
});

export const tenantCases = [...lockedOut, ...apart, ...sameIdentity];
