/** Control of a target by hooks; it affects the whole target, unless a tenant was created. */
import type { RateLimit } from '../../../fixtures/base/option-row.ts';
import type { ManagementId } from '../../../fixtures/contract/management/index.ts';
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import type { Capability } from '../../context/capabilities.ts';
import type { Control, ControlledTenant, TenantOrder } from '../../context/control.ts';
import type { TargetClient } from '../../target/target.ts';
import { MissingCapability } from '../missing-capability.ts';
import { HookAdmin } from './hook-admin.ts';
import { type HookStep, hookStepNames } from './hook-steps.ts';
import type { Hooks } from './hooks.ts';

/** The steps that a capability needs. */
const stepsOf: Readonly<Partial<Record<Capability, readonly HookStep[]>>> = {
  'clock-control': ['advance-clock'],
  'fault-control': ['fail-next'],
  'rate-control': ['limit-rate'],
  'role-control': ['powerless-user'],
  'tenant-control': ['make-tenant', 'suspend-tenant', 'remove-tenant'],
};

const takesTenants: readonly Capability[] = ['role-control', 'tenant-control'];

/** Returns true if the hooks have a step of a user, beside those of control and the login. */
export function actAsUser(hooks: Hooks): boolean {
  const nonUserSteps = new Set<HookStep>([...Object.values(stepsOf).flat(), 'login']);
  return hookStepNames.some((step) => hooks.has(step) && !nonUserSteps.has(step));
}

/** Control by hooks, whose runs are recorded by one client. */
export class HookControl implements Control {
  readonly offers: ReadonlySet<Capability>;
  readonly isolates = false;
  readonly #hooks: Hooks;
  readonly #clientOfRun: TargetClient;
  readonly #client: TargetClient;
  readonly #hasTenants: boolean;
  readonly #afterAdvance: () => Promise<void>;

  /**
   * @param clientOfRun a client that is usable until the run ends, since it removes the tenants
   * @param hasTenants false disables tenant and role control, even if the hooks have those steps
   * @param afterAdvance called after each move of the clock, which may have ended tokens
   */
  constructor(
    hooks: Hooks,
    clientOfRun: TargetClient,
    {
      client = clientOfRun,
      hasTenants = true,
      afterAdvance = async () => undefined,
    }: {
      client?: TargetClient;
      hasTenants?: boolean;
      afterAdvance?: () => Promise<void>;
    } = {},
  ) {
    this.#hooks = hooks;
    this.#clientOfRun = clientOfRun;
    this.#client = client;
    this.#hasTenants = hasTenants;
    this.#afterAdvance = afterAdvance;
    const capabilities = (Object.keys(stepsOf) as Capability[]).filter((name) =>
      stepsOf[name]?.every((step) => hooks.has(step)),
    );
    this.offers = new Set(
      capabilities.filter((name) => hasTenants || !takesTenants.includes(name)),
    );
  }

  on(client: TargetClient): Control {
    return new HookControl(this.#hooks, this.#clientOfRun, {
      client,
      hasTenants: this.#hasTenants,
      afterAdvance: this.#afterAdvance,
    });
  }

  async newTenant({ client, name, maskSecret }: TenantOrder): Promise<ControlledTenant> {
    const tenant = await this.#hooks.run(client, 'make-tenant', { name });
    const tenantToken = tenant.tenantToken ?? undefined;
    const token = tenant.userToken ?? undefined;
    if (tenantToken !== undefined) maskSecret(tenantToken, 'tenant-token');
    if (token !== undefined) maskSecret(token, 'user-token');
    const hooks = this.#hooks.within(tenant.tenantId);
    return {
      id: tenant.tenantId,
      tenantToken,
      admin: new HookAdmin(hooks, client, token === undefined ? undefined : { token }),
      control: new HookControl(hooks, this.#clientOfRun, { client }),
      remove: async () => {
        await hooks.run(this.#clientOfRun, 'remove-tenant');
      },
    };
  }

  async suspend(): Promise<void> {
    if (this.#hooks.tenant === undefined) {
      const reason = 'the case has no tenant of its own to suspend';
      throw new MissingCapability('tenant-control', reason);
    }
    await this.#hooks.run(this.#client, 'suspend-tenant');
  }

  async advance(seconds: number): Promise<void> {
    await this.#hooks.run(this.#client, 'advance-clock', { seconds });
    await this.#afterAdvance();
  }

  async failNext(operations: readonly (OperationId | ManagementId)[]): Promise<void> {
    await this.#hooks.run(this.#client, 'fail-next', { operations });
  }

  async limitRate(limit: RateLimit | undefined): Promise<void> {
    await this.#hooks.run(this.#client, 'limit-rate', { limit: limit ?? null });
  }

  async powerlessUser({ client, name, maskSecret }: TenantOrder): Promise<string> {
    const { token } = await this.#hooks.run(client, 'powerless-user', { name });
    maskSecret(token, 'user-token');
    return token;
  }
}
