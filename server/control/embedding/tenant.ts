/** A tenant for tests: its admin, clock, faults, journal and rate limit, and resets. */
import type * as v from 'valibot';
import { resetShape } from '../../../fixtures/control/inputs.ts';
import { faultPlansOf } from '../../faults/tenant-faults.ts';
import { maskText } from '../../http/masking.ts';
import { ambiguousNameSentence, findNamedDevice } from '../../journal/known-devices.ts';
import type { OpenServer } from '../../server.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import type { LoadedWorld } from '../../world/load.ts';
import type { worldShape } from '../../world/world-shape.ts';
import { readWorld } from '../../world/world-text.ts';
import { type AdminClient, adminClient } from './admin-client.ts';
import { checkedInput } from './checked-input.ts';
import { type TestbedClient, testbedClient } from './client.ts';
import {
  type TestbedClock,
  type TestbedFaults,
  type TestbedRates,
  testbedClock,
  testbedFaults,
  testbedRates,
} from './clock-and-faults.ts';
import { type TestbedDevice, testbedDevice } from './device.ts';
import { type TestbedJournal, testbedJournal } from './journal.ts';

/** The content of a world file, as YAML or JSON text, or as a value. */
export type WorldSource = string | v.InferInput<typeof worldShape>;

/** An isolated tenant. No data of one tenant can be reached from another. */
export interface TestbedTenant {
  readonly id: string;
  readonly name: string;
  /** The `tenant_token` with which devices join this tenant. */
  readonly tenantToken: string;
  readonly adminEmail: string;
  readonly adminPassword: string;
  /** The admin's token for the management API. It never expires. */
  readonly adminToken: string;
  readonly admin: AdminClient;
  readonly clock: TestbedClock;
  readonly rates: TestbedRates;
  readonly journal: TestbedJournal;
  readonly faults: TestbedFaults;
  /**
   * Returns a device client, judged by its duties: by the ID or an identity value of the device.
   */
  client(device: string): TestbedClient;
  /**
   * Returns a device by its ID, the text of its identity, or the value of a member of its identity.
   * It need not exist yet.
   */
  device(name: string): TestbedDevice;
  /**
   * Replaces the whole state of the tenant with that of a world file. `reset` then returns to this
   * state.
   * @throws WorldTextError, WorldFileError
   */
  load(source: WorldSource): Promise<LoadedWorld>;
  /**
   * Returns to the initial state, or to the state that was loaded last. Closes sockets, and clears
   * faults and journal. With a device, by its ID or a value of its identity, only that device.
   * @throws TypeError for an unknown field, RangeError for an unknown device
   */
  reset(subject?: ResetSubject): Promise<void>;
}

/** The subject of a reset: one device, or the whole tenant if it names none. */
export type ResetSubject = v.InferInput<typeof resetShape>;

/** The admin of a tenant, with the token of a login. */
export interface TenantAdmin {
  readonly adminEmail: string;
  readonly adminPassword: string;
  readonly adminToken: string;
}

/**
 * Creates the test interface of a tenant.
 * @param apiUrl base address for the admin's calls
 */
export function testbedTenant(
  inside: OpenServer,
  tenant: Tenant,
  { apiUrl, admin }: { readonly apiUrl: string; readonly admin: TenantAdmin },
): TestbedTenant {
  const { states } = inside;
  const { id, name, token: tenantToken } = tenant;
  const journal = testbedJournal(tenant);
  return {
    id,
    name,
    tenantToken,
    ...admin,
    admin: adminClient(apiUrl, admin.adminToken),
    clock: testbedClock(tenant.clock),
    rates: testbedRates(tenant.rates),
    journal,
    faults: testbedFaults(faultPlansOf(tenant)),
    client: (device) => testbedClient(inside, tenant, device),
    device: (device) => testbedDevice(device, journal),
    load: async (source) => {
      const text = typeof source === 'string' ? source : JSON.stringify(source);
      const loadedWorld = await states.load(tenant, readWorld(text, 'world'));
      keepLoggedIn(inside, tenant, admin);
      return loadedWorld;
    },
    reset: async (subject = {}) => {
      const { device } = checkedInput('reset', resetShape, subject);
      if (device !== undefined) return resetDevice(inside, tenant, device);
      await states.reset(tenant);
      keepLoggedIn(inside, tenant, admin);
    },
  };
}

function resetDevice({ states }: OpenServer, tenant: Tenant, device: string): void {
  if (states.resetDevice(tenant, device) !== 'unknown') return;
  const sentence = ambiguousNameSentence(
    findNamedDevice(tenant.store, device),
    'there are no devices',
  );
  throw new RangeError(maskText(`reset: device: ${sentence}`));
}

/** Makes the admin's token valid again, because a test may have logged the admin out. */
function keepLoggedIn({ services }: OpenServer, tenant: Tenant, { adminToken }: TenantAdmin) {
  const claims = services.tokenIssuer.read(adminToken);
  if ('reason' in claims) return;
  const { id, subject: userId } = claims;
  const { store, clock } = tenant;
  store.userTokens.end(id);
  if (!store.users.find(userId)) return;
  store.userTokens.record({ id, userId, kind: 'first' }, clock.now());
}
