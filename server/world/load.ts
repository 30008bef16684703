/** Loads a world into a tenant. Each step runs at its own time on the tenant's clock. */
import { limits } from '../../fixtures/contract/limits.ts';
import { timestampMs } from '../../fixtures/contract/text.ts';
import type { ResponseOf } from '../../fixtures/control/operations.ts';
import { journalOf } from '../journal/tenant-journal.ts';
import type { Services } from '../pipeline/services.ts';
import type { Tenant } from '../tenants/tenants.ts';
import { issueUserToken } from '../tenants/user-tokens.ts';
import { loadOrderOf, WorldFileError } from './load-order.ts';
import { type CallApi, type LoadContext, takeStep } from './steps.ts';
import type { World } from './world-shape.ts';

/** The IDs of the created resources, by their names in the file. */
export type LoadedWorld = ResponseOf<'POST /world'>;

/**
 * Loads a world. Afterwards the clock shows the world's time or is reset, the rate limit is that of
 * the server's start, and the journal is empty.
 * @throws WorldFileError for an impossible state, with the server's message if the server refuses
 * it
 */
export async function loadWorld(
  services: Services,
  tenant: Tenant,
  { world, callApi }: { readonly world: World; readonly callApi: CallApi },
): Promise<LoadedWorld> {
  const steps = loadOrderOf(world);
  const { clock } = tenant;
  const formerState = clock.state;
  const nowMs = world.now === undefined ? services.clock.now() : timestampMs(world.now);
  const access = unlimitedAccess(services, tenant, nowMs);
  const loadedObjects = { devices: new Map(), artifacts: new Map(), deployments: new Map() };
  const loading: LoadContext = {
    services,
    tenant,
    world,
    callApi,
    userToken: access.token,
    ...loadedObjects,
  };
  try {
    for (const step of steps) {
      clock.set(nowMs - step.agoMs);
      await takeStep(loading, step);
    }
    clock.reset();
    if (world.now !== undefined) clock.set(nowMs);
  } catch (error) {
    clock.reset();
    if (formerState.mode !== 'base') {
      clock.set(formerState.nowMs);
      clock.scale(formerState.rate);
    }
    throw error;
  } finally {
    access.end();
  }
  // Loading sends the devices' requests, but none of the devices has polled itself.
  tenant.store.deviceDeployments.clearPollData();
  tenant.store.devices.cache.discardPolls();
  tenant.rates.set(services.settings.rateLimit);
  journalOf(tenant).clear();
  return {
    devices: world.devices.flatMap(({ name }) => loading.devices.get(name) ?? []),
    artifacts: nameRows(loading.artifacts),
    deployments: nameRows(loading.deployments),
  };
}

/** Returns the token of an admin and suspends the rate limit, until `end` is called. */
function unlimitedAccess(services: Services, tenant: Tenant, nowMs: number) {
  const { store, rates } = tenant;
  const users = store.users.list({ email: [], id: [] }, { page: 1, perPage: limits.pageMax });
  // A user without roles has full access.
  const admin = users.find(({ roles }) => roles.length === 0);
  if (!admin)
    throw new WorldFileError(
      'no user of the tenant may create this state; add one with full access',
    );
  const token = issueUserToken(services, tenant, { userId: admin.id, kind: 'first', nowMs });
  const { limit } = rates;
  rates.set(undefined);
  return {
    token,
    end: () => {
      rates.set(limit);
      const claims = services.tokenIssuer.read(token);
      if (!('reason' in claims)) store.userTokens.end(claims.id);
    },
  };
}

function nameRows(ids: ReadonlyMap<string, string>) {
  return [...ids].map(([name, id]) => ({ name, id }));
}
