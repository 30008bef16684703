/**
 * The server embedded in tests, which control it by direct calls; devices and the admin use HTTP.
 * `bin/exports` exports it together with the client judge.
 */
import * as v from 'valibot';
import { seededRandom } from '../fixtures/base/random.ts';
import * as inputs from '../fixtures/control/inputs.ts';
import { checkedInput } from './control/embedding/checked-input.ts';
import {
  type ResetSubject,
  type TenantAdmin,
  type TestbedTenant,
  testbedTenant,
  type WorldSource,
} from './control/embedding/tenant.ts';
import { type OpenServer, openServer, type ServerOptions } from './server.ts';
import type { Tenant } from './tenants/tenants.ts';
import { issueUserToken } from './tenants/user-tokens.ts';

export { AdminRefusal } from './control/embedding/admin-client.ts';
export { ClientViolationsError } from './control/embedding/client.ts';
export { FaultPlanError, UnfiredFaultsError } from './control/embedding/clock-and-faults.ts';
export type { ExpectedRequests, TestbedDevice } from './control/embedding/device.ts';
export { AwaitTimeout, JournalAssertionError } from './control/embedding/journal.ts';
export type { TestbedTenant };

/** The settings of the server, and the start state of its first tenant. */
export interface TestbedOptions extends ServerOptions {
  /** Makes IDs, secrets and passwords repeatable; takes precedence over `random`. */
  readonly seed?: string;
  /** The start state of the first tenant; the tenant is empty when absent. */
  readonly world?: WorldSource;
}

/** The admin of a new tenant; absent fields are generated. */
export interface NewTenantOptions {
  readonly adminEmail?: string;
  readonly adminPassword?: string;
}

const newTenantShape = v.partial(v.omit(inputs.newTenantShape, ['name']));

/** Creates and removes tenants besides the first one, for tests that run at the same time. */
export interface TestbedTenants {
  /**
   * Creates a tenant.
   * @throws Error when the server has its maximum of tenants, or the name or email is in use;
   * TypeError for an unknown field, RangeError for a wrong value
   */
  create(name: string, options?: NewTenantOptions): Promise<TestbedTenant>;
  /**
   * Removes a tenant; its tokens and links are refused from then on. Succeeds if it is already gone,
   * so that cleanup may run twice.
   * @throws Error for the first tenant
   */
  drop(tenant: Pick<TestbedTenant, 'id'>): Promise<void>;
}

/** A running server; inherited members refer to its first tenant. */
export interface Testbed extends TestbedTenant {
  readonly baseUrl: string;
  readonly controlUrl: string;
  readonly controlToken: string;
  readonly headerPrefix: string;
  /** The test CA's certificate in PEM; absent without a test CA. */
  readonly caPem?: string;
  /** Base URL of each listener with faulty TLS, by its fault; empty without broken TLS. */
  readonly brokenTls: Readonly<Record<string, string>>;
  readonly tenants: TestbedTenants;
  /**
   * Resets the first tenant to its start state, and removes all others; with a device, resets only
   * that device of the first tenant. Throws as the `reset` of a tenant does.
   */
  reset(subject?: ResetSubject): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const defaults = { port: 0, controlPort: 0, logLevel: 'silent' } as const;

/**
 * Starts a server on free loopback ports, silent by default. Several may run in one process. Throws
 * as `startServer` does, and YamlProblem or WorldFileError when `world` cannot be loaded.
 */
export async function startTestbed(options: TestbedOptions = {}): Promise<Testbed> {
  const { seed, world, ...settings } = options;
  const chance = seed === undefined ? {} : { random: seededRandom(seed) };
  const openedServer = await openServer({ ...defaults, ...settings, ...chance });
  const { server } = openedServer;
  // On an encrypted server the admin would first have to trust the test CA, so it uses an
  // unencrypted port.
  const listener = server.tls && (await openedServer.openInside());
  const close = async (): Promise<void> => {
    await listener?.close();
    await server.close();
  };
  try {
    const testbed = testbedOver(openedServer, { apiUrl: listener?.url ?? server.baseUrl, close });
    if (world !== undefined) await testbed.load(world);
    return testbed;
  } catch (error) {
    await close();
    throw error;
  }
}

interface OpenApi {
  readonly apiUrl: string;
  close(): Promise<void>;
}

function testbedOver(inside: OpenServer, { apiUrl, close }: OpenApi): Testbed {
  const { server, services, states } = inside;
  const { tenants } = services;
  const { baseUrl, controlUrl, controlToken, headerPrefix, tls } = server;
  const { adminEmail, adminPassword } = server;
  const adminId = tenants.first.store.users.findByEmail(adminEmail)?.id ?? '';
  const adminToken = logIn(inside, tenants.first, adminId);
  const admin = { adminEmail, adminPassword, adminToken };
  const first = testbedTenant(inside, tenants.first, { apiUrl, admin });
  let closing: Promise<void> | undefined;
  const closeOnce = (): Promise<void> => {
    closing ??= close();
    return closing;
  };
  const beside: TestbedTenants = {
    create: async (name, options = {}) => {
      const admin = checkedInput('tenants.create', newTenantShape, options);
      return createTenant(inside, { ...admin, name, apiUrl });
    },
    drop: async ({ id }) => {
      const tenant = tenants.find(id);
      if (tenant?.isFirst) {
        throw new Error(
          'the first tenant cannot be removed; call reset() or close() on the testbed',
        );
      }
      if (tenant) await states.drop(tenant);
    },
  };
  return {
    ...first,
    baseUrl,
    controlUrl,
    controlToken,
    headerPrefix,
    ...(tls?.caPem !== undefined && { caPem: tls.caPem }),
    brokenTls: tls?.brokenTls ?? {},
    tenants: beside,
    reset: async (subject) => {
      await first.reset(subject);
      if (subject?.device === undefined) await states.dropOthers();
    },
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  };
}

async function createTenant(
  inside: OpenServer,
  wanted: v.InferOutput<typeof newTenantShape> & { readonly name: string; readonly apiUrl: string },
): Promise<TestbedTenant> {
  const { services, states } = inside;
  const { name, apiUrl, adminPassword: password } = wanted;
  const email = wanted.adminEmail ?? `admin@${services.random.uuid()}.example`;
  const added = await states.add(name, { email, password });
  if (typeof added === 'string') throw new Error(`the tenant ${name} cannot be created: ${added}`);
  const { tenant, admin } = added;
  const adminToken = logIn(inside, tenant, admin.id);
  const loggedIn: TenantAdmin = {
    adminEmail: admin.email,
    adminPassword: admin.password,
    adminToken,
  };
  return testbedTenant(inside, tenant, { apiUrl, admin: loggedIn });
}

/**
 * Issues a token that does not expire, so that a test which advances the clock by a week keeps its
 * admin.
 */
function logIn({ services }: OpenServer, tenant: Tenant, userId: string): string {
  const tokenRequest = { userId, kind: 'first', nowMs: tenant.clock.now() } as const;
  return issueUserToken(services, tenant, tokenRequest);
}
