/**
 * The tenants: each has a store of its own, so that nothing of one can be reached from another.
 * The first one is there from the start, and is meant wherever no tenant is named.
 */
import type { Clock } from '../fixtures/clock.ts';
import type { Random } from '../fixtures/random.ts';
import { hashPassword } from './crypto/passwords.ts';
import { openStore, type Store } from './store/store.ts';

/** Whether a tenant's users and devices are let in. */
export const tenantStatuses = ['active', 'suspended'] as const;
type TenantStatus = (typeof tenantStatuses)[number];

export interface Tenant {
  readonly id: string;
  readonly name: string;
  /** What devices say in `tenant_token` to belong here. */
  readonly token: string;
  readonly isFirst: boolean;
  readonly createdMs: number;
  readonly store: Store;
  status: TenantStatus;
}

/** The first user of a tenant, as asked for; the password is random when absent. */
interface GivenAdmin {
  readonly email: string;
  readonly password?: string | undefined;
}

/** The first user of a tenant, as made. */
interface TenantAdmin {
  readonly id: string;
  readonly email: string;
  readonly password: string;
}

interface AddedTenant {
  readonly tenant: Tenant;
  readonly admin: TenantAdmin;
}

/** Why a tenant cannot be added. */
type TenantFault = 'too many tenants' | 'e-mail taken';

/** Each has a database and a folder, so there cannot be many. */
export const TENANTS_MAX = 50;

/** All tenants of a server. */
export class Tenants {
  readonly first: Tenant;
  readonly #all = new Map<string, Tenant>();
  readonly #clock: Clock;
  readonly #random: Random;

  private constructor(first: Tenant, chance: { clock: Clock; random: Random }) {
    this.first = first;
    this.#clock = chance.clock;
    this.#random = chance.random;
    this.#all.set(first.id, first);
  }

  /** Opens the first tenant. */
  static async open(chance: { clock: Clock; random: Random }): Promise<Tenants> {
    return new Tenants(await newTenant('Default', true, chance), chance);
  }

  /** Adds a tenant with its first user, who has no roles and so may do everything. */
  async add(name: string, given: GivenAdmin): Promise<AddedTenant | TenantFault> {
    const chance = { clock: this.#clock, random: this.#random };
    const tenant = await newTenant(name, false, chance);
    // Asked once the store is open: nothing else can happen from here on.
    const fault = this.#faultOf(given.email);
    if (fault) {
      tenant.store.close();
      return fault;
    }
    this.#all.set(tenant.id, tenant);
    return { tenant, admin: createAdmin(tenant, given, chance) };
  }

  #faultOf(email: string): TenantFault | undefined {
    if (this.#all.size >= TENANTS_MAX) return 'too many tenants';
    return this.findByEmail(email) && 'e-mail taken';
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
    return this.list().find((tenant) => tenant.token === token);
  }

  /** The tenant whose user has this e-mail; an e-mail is in one tenant only. */
  findByEmail(email: string): Tenant | undefined {
    return this.list().find(({ store }) => store.users.findByEmail(email));
  }

  close(): void {
    for (const { store } of this.#all.values()) store.close();
  }
}

/** Makes the first user of a tenant. */
export function createAdmin(
  { store }: Tenant,
  given: GivenAdmin,
  { clock, random }: { clock: Clock; random: Random },
): TenantAdmin {
  const email = given.email.toLowerCase();
  const password = given.password ?? random.bytes(12).toString('base64url');
  const id = random.uuid();
  store.users.create({ id, email, passwordHash: hashPassword(password, random) }, clock.now());
  return { id, email, password };
}

async function newTenant(
  name: string,
  isFirst: boolean,
  { clock, random }: { clock: Clock; random: Random },
): Promise<Tenant> {
  return {
    id: random.uuid(),
    name,
    token: random.bytes(32).toString('base64url'),
    isFirst,
    createdMs: clock.now(),
    store: await openStore(),
    status: 'active',
  };
}
