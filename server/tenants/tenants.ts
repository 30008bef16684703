/**
 * The tenants: each has its own store, so that no tenant can access the data of another.
 * The first one exists from the start, and is the default where no tenant is named.
 */
import type { Clock } from '../../fixtures/clock.ts';
import type { tenantStatuses } from '../../fixtures/control/inputs.ts';
import type { Random } from '../../fixtures/random.ts';
import { SteeredClock } from '../../fixtures/steered-clock.ts';
import { hashPassword } from '../crypto/passwords.ts';
import { isSameSecret } from '../crypto/same-secret.ts';
import type { RateLimit } from '../settings.ts';
import type { DataFolder, StoredTenant } from '../store/folder/data-folder.ts';
import { openStore, type Store } from '../store/store.ts';
import { RateLimits } from './rate-limits.ts';

export interface Tenant {
  readonly id: string;
  readonly name: string;
  /** What devices say in `tenant_token` to belong here. */
  readonly token: string;
  readonly isFirst: boolean;
  readonly createdMs: number;
  readonly store: Store;
  /** The tenant's own time, which can be steered. */
  readonly clock: SteeredClock;
  /** How often each of its callers may ask. */
  readonly rates: RateLimits;
  /** Whether its users and devices are let in. */
  status: (typeof tenantStatuses)[number];
}

/** The requested first user of a tenant; the password is random when absent. */
export interface GivenAdmin {
  readonly email: string;
  readonly password?: string | undefined;
}

/** The first user of a tenant, as made. */
interface TenantAdmin {
  readonly id: string;
  readonly email: string;
  readonly password: string;
}

export interface AddedTenant {
  readonly tenant: Tenant;
  readonly admin: TenantAdmin;
}

/** Why a tenant cannot be added. */
export type TenantProblem = 'too many tenants' | 'name taken' | 'e-mail taken';

/** Each has a database and a folder, so there cannot be many. */
export const TENANTS_MAX = 50;

/** What tenants are made from. */
interface TenantDependencies {
  readonly clock: Clock;
  readonly random: Random;
  /** Keeps them over restarts; in memory when absent. */
  readonly data?: DataFolder | undefined;
  /** The initial rate limit of each tenant; unlimited when absent. */
  readonly rateLimit?: RateLimit | undefined;
  /** Called with each new tenant before it becomes available. */
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
    others: readonly Tenant[] = [],
  ) {
    this.first = first;
    this.#dependencies = dependencies;
    for (const tenant of [first, ...others]) this.#all.set(tenant.id, tenant);
  }

  /** Opens the tenants that the data folder keeps, or else the first one. @throws StateError */
  static async open(dependencies: TenantDependencies): Promise<Tenants> {
    const [first, ...others] = await keptTenants(dependencies);
    if (first) return new Tenants(first, dependencies, others);
    const tenant = await newTenant('Default', true, dependencies);
    dependencies.data?.completeTenant(tenant.id);
    return new Tenants(tenant, dependencies);
  }

  /** Adds a tenant with its first user, who has no roles and so may do everything. */
  async add(name: string, given: GivenAdmin): Promise<AddedTenant | TenantProblem> {
    const { data } = this.#dependencies;
    const prepared = await preparedAdmin(given, this.#dependencies);
    const tenant = await newTenant(name, false, this.#dependencies);
    // Asked once the store is open: nothing else can happen from here on.
    const problem = this.#problemOf(name, given.email);
    if (problem) {
      tenant.store.close();
      data?.removeTenant(tenant.id);
      return problem;
    }
    const admin = createAdmin(tenant, prepared, this.#dependencies);
    data?.completeTenant(tenant.id);
    this.#all.set(tenant.id, tenant);
    return { tenant, admin };
  }

  #problemOf(name: string, email: string): TenantProblem | undefined {
    if (this.#all.size >= TENANTS_MAX) return 'too many tenants';
    // A tenant is named by its id or its name, so that neither may mean two.
    if (this.list().some((tenant) => tenant.name === name || tenant.id === name))
      return 'name taken';
    return this.findByEmail(email) && 'e-mail taken';
  }

  /** True while the first tenant is the only one. */
  get hasSingleTenant(): boolean {
    return this.#all.size === 1;
  }

  /** Whether any tenant matches; does not build a list, because it runs for every request. */
  some(isSo: (tenant: Tenant) => boolean): boolean {
    for (const tenant of this.#all.values()) if (isSo(tenant)) return true;
    return false;
  }

  /** In order of creation, the first one first. */
  list(): Tenant[] {
    return [...this.#all.values()];
  }

  find(id: string): Tenant | undefined {
    return this.#all.get(id);
  }

  /** The tenant of a `tenant_token`. */
  findByToken(token: string): Tenant | undefined {
    return this.list().find((tenant) => isSameSecret(tenant.token, token));
  }

  /** The tenant whose user has this e-mail; an e-mail is in one tenant only. */
  findByEmail(email: string): Tenant | undefined {
    return this.list().find(({ store }) => store.users.findByEmail(email));
  }

  /** Makes a tenant that is not the first unknown; false when it was unknown already. */
  forget(tenant: Tenant): boolean {
    return tenant.isFirst ? false : this.#all.delete(tenant.id);
  }

  /** Removes what a forgotten tenant has left behind. */
  remove(tenant: Tenant): void {
    tenant.store.close();
    this.#dependencies.data?.removeTenant(tenant.id);
  }

  close(): void {
    for (const { store } of this.#all.values()) store.close();
  }
}

/** A first user who is not there yet. */
interface PreparedAdmin extends TenantAdmin {
  readonly passwordHash: string;
}

/** Draws what was not given of a tenant's first user, and hashes the password. */
export async function preparedAdmin(
  given: GivenAdmin,
  { random }: { random: Random },
): Promise<PreparedAdmin> {
  const email = given.email.toLowerCase();
  const password = given.password ?? random.bytes(12).toString('base64url');
  const id = random.uuid();
  return { id, email, password, passwordHash: await hashPassword(password, random) };
}

/** Makes the first user of a tenant. */
export function createAdmin(
  { store }: Tenant,
  { id, email, password, passwordHash }: PreparedAdmin,
  { clock }: { clock: Clock },
): TenantAdmin {
  store.users.create({ id, email, passwordHash }, clock.now());
  return { id, email, password };
}

async function newTenant(
  name: string,
  isFirst: boolean,
  dependencies: TenantDependencies,
): Promise<Tenant> {
  const { clock, random, data } = dependencies;
  const stored = {
    id: random.uuid(),
    name,
    token: random.bytes(32).toString('base64url'),
    isFirst,
    createdMs: clock.now(),
    status: 'active',
  } as const;
  return tenantOf(stored, await (data ? data.beginTenant(stored) : openStore()), dependencies);
}

/** All or none: a folder that cannot be opened whole is refused. */
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
    clock: new SteeredClock(clock),
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
