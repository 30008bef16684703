/**
 * The tenants of a server. Each has its own store, so that no tenant can access another's data. The
 * first tenant always exists, and is the default where none is named.
 */
import { AdjustableClock } from '../../fixtures/base/adjustable-clock.ts';
import type { Clock } from '../../fixtures/base/clock.ts';
import type { RateLimit } from '../../fixtures/base/option-row.ts';
import type { Random } from '../../fixtures/base/random.ts';
import type { tenantStatuses } from '../../fixtures/control/inputs.ts';
import { hashPassword } from '../crypto/passwords.ts';
import { isSameSecret } from '../crypto/same-secret.ts';
import type { DataFolder, StoredTenant } from '../store/folder/data-folder.ts';
import { openStore, type Store } from '../store/store.ts';
import { RateLimits } from './rate-limits.ts';

export interface Tenant {
  readonly id: string;
  readonly name: string;
  /** The `tenant_token` by which devices name this tenant. */
  readonly token: string;
  readonly isFirst: boolean;
  readonly createdMs: number;
  readonly store: Store;
  /** The tenant's own clock, which tests can set. */
  readonly clock: AdjustableClock;
  /** The rate limit of the tenant's callers. */
  readonly rates: RateLimits;
  /** Users and devices of a suspended tenant are refused. */
  status: (typeof tenantStatuses)[number];
}

/** The first user of a tenant to be added; the password is random when absent. */
export interface NewAdmin {
  readonly email: string;
  readonly password?: string | undefined;
}

/** The first user of a tenant, as created. */
interface FirstUser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
}

export interface AddedTenant {
  readonly tenant: Tenant;
  readonly admin: FirstUser;
}

/** The reason why a tenant cannot be added. */
export type TenantProblem = 'too many tenants' | 'name taken' | 'email taken';

/** Maximum number of tenants; each needs an open database and a folder. */
export const TENANTS_MAX = 50;

/**
 * The dependencies of each tenant: clock, random numbers, storage, and a function that is called
 * with a new one.
 */
interface TenantDependencies {
  readonly clock: Clock;
  readonly random: Random;
  /** The folder in which tenants are persisted; they are kept in memory when absent. */
  readonly data?: DataFolder | undefined;
  /** The initial rate limit of each tenant; unlimited when absent. */
  readonly rateLimit?: RateLimit | undefined;
  /** Called with each opened or created tenant before it becomes available. */
  readonly onTenantCreated?: ((tenant: Tenant) => void) | undefined;
}

/** All tenants of a server. */
export class Tenants {
  readonly first: Tenant;
  readonly #all = new Map<string, Tenant>();
  readonly #dependencies: TenantDependencies;

  private constructor(
    first: Tenant,
    dependencies: TenantDependencies,
    furtherTenants: readonly Tenant[] = [],
  ) {
    this.first = first;
    this.#dependencies = dependencies;
    for (const tenant of [first, ...furtherTenants]) this.#all.set(tenant.id, tenant);
  }

  /**
   * Opens the tenants in the data folder; creates the first one if there is none.
   * @throws StateError when a store cannot be used
   */
  static async open(dependencies: TenantDependencies): Promise<Tenants> {
    const [first, ...furtherTenants] = await keptTenants(dependencies);
    if (first) return new Tenants(first, dependencies, furtherTenants);
    const tenant = await newTenant('Default', true, dependencies);
    dependencies.data?.completeTenant(tenant.id);
    return new Tenants(tenant, dependencies);
  }

  /** Adds a tenant with its first user, who has no roles and therefore full access. */
  async add(name: string, newAdmin: NewAdmin): Promise<AddedTenant | TenantProblem> {
    const { data } = this.#dependencies;
    const adminData = await preparedAdmin(newAdmin, this.#dependencies);
    const tenant = await newTenant(name, false, this.#dependencies);
    // Checked after the last await, so that no other call can add the same name in between.
    const problem = this.#problemOf(name, newAdmin.email);
    if (problem) {
      tenant.store.close();
      data?.removeTenant(tenant.id);
      return problem;
    }
    const admin = createAdmin(tenant, adminData, this.#dependencies);
    data?.completeTenant(tenant.id);
    this.#all.set(tenant.id, tenant);
    return { tenant, admin };
  }

  #problemOf(name: string, email: string): TenantProblem | undefined {
    if (this.#all.size >= TENANTS_MAX) return 'too many tenants';
    // Callers may name a tenant by ID or by name, so neither may equal another tenant's ID or name.
    if (this.list().some((tenant) => tenant.name === name || tenant.id === name))
      return 'name taken';
    return this.findByEmail(email) && 'email taken';
  }

  /** True while the first tenant is the only one. */
  get hasSingleTenant(): boolean {
    return this.#all.size === 1;
  }

  /** Returns true if any tenant matches. Builds no list, because it runs for every request. */
  some(isSo: (tenant: Tenant) => boolean): boolean {
    for (const tenant of this.#all.values()) if (isSo(tenant)) return true;
    return false;
  }

  /** Returns the tenants in order of creation, starting with the first. */
  list(): Tenant[] {
    return [...this.#all.values()];
  }

  find(id: string): Tenant | undefined {
    return this.#all.get(id);
  }

  /** Returns the tenant with this `tenant_token`. */
  findByToken(token: string): Tenant | undefined {
    return this.list().find((tenant) => isSameSecret(tenant.token, token));
  }

  /** Returns the tenant of the user with this email address; no address is used in two tenants. */
  findByEmail(email: string): Tenant | undefined {
    return this.list().find(({ store }) => store.users.findByEmail(email));
  }

  /**
   * Makes a tenant unavailable, unless it is the first. Returns false for the first, and for one
   * already unavailable.
   */
  forget(tenant: Tenant): boolean {
    return tenant.isFirst ? false : this.#all.delete(tenant.id);
  }

  /** Closes and deletes the store of a tenant after `forget`. */
  remove(tenant: Tenant): void {
    tenant.store.close();
    this.#dependencies.data?.removeTenant(tenant.id);
  }

  close(): void {
    for (const { store } of this.#all.values()) store.close();
  }
}

/** A first user, with a password hash, that is not stored yet. */
interface PreparedAdmin extends FirstUser {
  readonly passwordHash: string;
}

/** Generates the missing fields of a tenant's first user, and hashes the password. */
export async function preparedAdmin(
  admin: NewAdmin,
  { random }: { random: Random },
): Promise<PreparedAdmin> {
  const email = admin.email.toLowerCase();
  const password = admin.password ?? random.bytes(12).toString('base64url');
  const id = random.uuid();
  return { id, email, password, passwordHash: await hashPassword(password, random) };
}

/** Stores the first user of a tenant. */
export function createAdmin(
  { store }: Tenant,
  { id, email, password, passwordHash }: PreparedAdmin,
  { clock }: { clock: Clock },
): FirstUser {
  store.users.create({ id, email, passwordHash }, clock.now());
  return { id, email, password };
}

async function newTenant(
  name: string,
  isFirst: boolean,
  dependencies: TenantDependencies,
): Promise<Tenant> {
  const { clock, random, data } = dependencies;
  const storedTenant = {
    id: random.uuid(),
    name,
    token: random.bytes(32).toString('base64url'),
    isFirst,
    createdMs: clock.now(),
    status: 'active',
  } as const;
  return tenantOf(
    storedTenant,
    await (data ? data.beginTenant(storedTenant) : openStore()),
    dependencies,
  );
}

/** Opens all stored tenants; when one cannot be opened, closes the others and throws. */
async function keptTenants(dependencies: TenantDependencies): Promise<Tenant[]> {
  const tenants: Tenant[] = [];
  const { data } = dependencies;
  if (!data) return tenants;
  try {
    for (const tenant of data.tenants()) {
      tenants.push(tenantOf(tenant, await data.openTenant(tenant.id), dependencies));
    }
    return tenants;
  } catch (error) {
    for (const { store } of tenants) store.close();
    throw error;
  }
}

function tenantOf(stored: StoredTenant, store: Store, dependencies: TenantDependencies): Tenant {
  const { clock, data, rateLimit, onTenantCreated } = dependencies;
  let { status } = stored;
  const tenant: Tenant = {
    id: stored.id,
    name: stored.name,
    token: stored.token,
    isFirst: stored.isFirst,
    createdMs: stored.createdMs,
    store,
    clock: new AdjustableClock(clock),
    rates: new RateLimits(rateLimit),
    get status() {
      return status;
    },
    set status(changed) {
      data?.setStatus(stored.id, changed);
      status = changed;
    },
  };
  onTenantCreated?.(tenant);
  return tenant;
}
