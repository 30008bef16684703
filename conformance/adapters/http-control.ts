/**
 * Control of a testbed by its control listener, with a separate tenant for each case. An edition
 * without tenants is controlled as a whole, but only in ways that can be undone after a case.
 */
import * as v from 'valibot';
import type { RateLimit } from '../../fixtures/base/option-row.ts';
import type { ManagementId } from '../../fixtures/contract/management/index.ts';
import type { OperationId } from '../../fixtures/contract/operations.ts';
import { controlPaths, unexpectedFault } from '../../fixtures/control/control-listener.ts';
import { type Capability, capabilitiesOf } from '../context/capabilities.ts';
import {
  type Control,
  ControlFailure,
  type ControlledTenant,
  type TenantOrder,
} from '../context/control.ts';
import { ManagementAdmin } from '../context/management-admin.ts';
import { bearer } from '../target/call.ts';
import { responseSummary } from '../target/expectations.ts';
import type { HttpResponse } from '../target/response.ts';
import type { TargetClient } from '../target/target.ts';
import { MissingCapability } from './missing-capability.ts';
import { inviteUserWithoutPermissions, userToken } from './tenant-users.ts';

/** The address and credentials of the control listener. */
export interface ControlAddress {
  /** The base URL of the control listener, without a trailing slash. */
  readonly url: string;
  readonly token: string;
}

/** A tenant as the control listener knows it. */
interface KnownTenant {
  readonly client: TargetClient;
  readonly id: string;
  readonly adminToken: string;
}

/** The scope of a control: the whole target without a tenant. */
interface ControlScope {
  readonly hasTenants?: boolean;
  readonly tenant?: KnownTenant;
  /** Number of fault plans created; each has its own name. */
  readonly plans?: { made: number };
}

const madeTenant = v.looseObject({
  id: v.string(),
  tenantToken: v.string(),
  adminEmail: v.string(),
  adminPassword: v.string(),
});
const tenants = v.array(v.looseObject({ id: v.string(), name: v.string() }));
const outbox = v.looseObject({
  messages: v.array(v.looseObject({ to: v.string(), secret: v.string() })),
});

/**
 * The control offered for a target without tenants. It lacks `clock-control`, since advancing the
 * clock would expire the tokens of all other cases.
 */
const withoutTenants: readonly Capability[] = ['fault-control', 'rate-control'];

/** Control by the control listener, over the whole target or over one tenant. */
export class HttpControl implements Control {
  readonly offers: ReadonlySet<Capability>;
  readonly isolates: boolean;
  readonly #address: ControlAddress;
  readonly #clientOfRun: TargetClient;
  readonly #tenant: KnownTenant | undefined;
  readonly #plans: { made: number };

  /**
   * @param clientOfRun a client that is usable until the run ends, since it removes the tenants
   * @param hasTenants true when devices of the target belong to tenants
   */
  constructor(
    address: ControlAddress,
    clientOfRun: TargetClient,
    { hasTenants = true, tenant, plans = { made: 0 } }: ControlScope = {},
  ) {
    this.#address = address;
    this.#clientOfRun = clientOfRun;
    this.#tenant = tenant;
    this.#plans = plans;
    this.isolates = hasTenants;
    this.offers = new Set(hasTenants ? capabilitiesOf('control') : withoutTenants);
  }

  /** Returns this control if it isolates tenants, since each tenant already has its client. */
  on(client: TargetClient): Control {
    if (this.isolates) return this;
    return new HttpControl(this.#address, client, { hasTenants: false, plans: this.#plans });
  }

  async newTenant({ client, name, maskSecret }: TenantOrder): Promise<ControlledTenant> {
    // With a plus, which a query must escape.
    const adminEmail = `admin+${name}@conformance.example`;
    const body = { name, adminEmail };
    const response = await this.#send('POST', controlPaths.tenants, body, client);
    const tenant = this.#read('create a tenant', response, madeTenant, 201);
    maskSecret(tenant.adminPassword, 'password');
    maskSecret(tenant.tenantToken, 'tenant-token');
    const adminToken = await userToken(client, tenant.adminEmail, tenant.adminPassword);
    maskSecret(adminToken, 'user-token');
    return {
      id: tenant.id,
      tenantToken: tenant.tenantToken,
      admin: new ManagementAdmin(client, { token: adminToken }),
      control: new HttpControl(this.#address, this.#clientOfRun, {
        tenant: { client, id: tenant.id, adminToken },
      }),
      remove: async () => void (await this.#remove(tenant.id)),
    };
  }

  /**
   * Removes a tenant that an earlier run created. Succeeds if the tenant is already gone or was
   * never created.
   * @param id the ID on the target; undefined when the response was never received
   * @returns whether the tenant existed
   */
  async removeTenant(name: string, id: string | undefined): Promise<boolean> {
    const tenantId = id ?? (await this.#idOf(name));
    return tenantId !== undefined && (await this.#remove(tenantId));
  }

  async suspend(): Promise<void> {
    const { id } = this.#own('tenant-control');
    const path = controlPaths.tenantStatus.replace(':id', encodeURIComponent(id));
    const response = await this.#send('PUT', path, { status: 'suspended' });
    this.#done('suspend a tenant', response, 200);
  }

  async advance(seconds: number): Promise<void> {
    const path = this.#within(controlPaths.clock);
    this.#done('move the clock', await this.#send('POST', path, { advanceSeconds: seconds }), 200);
  }

  async failNext(operations: readonly (OperationId | ManagementId)[]): Promise<void> {
    this.#plans.made += 1;
    const rules = operations.map((operation) => ({
      id: `conformance-${this.#plans.made}-${operation}`,
      match: { operation },
      times: 'once',
      act: unexpectedFault,
      unmarked: true,
    }));
    const response = await this.#send('POST', this.#within(controlPaths.faults), { rules });
    this.#done('plan faults', response, 201);
  }

  async limitRate(limit: RateLimit | undefined): Promise<void> {
    const path = this.#within(controlPaths.rateLimit);
    const response = await this.#send(limit ? 'POST' : 'DELETE', path, limit);
    this.#done('limit the rate', response, 200);
  }

  async powerlessUser({ client, name, maskSecret }: TenantOrder): Promise<string> {
    const { adminToken } = this.#own('role-control');
    const email = `${name}@conformance.example`;
    const password = `of ${name}`;
    maskSecret(password, 'password');
    await inviteUserWithoutPermissions(client, adminToken, { role: name, email });
    const response = await this.#send('GET', controlPaths.outbox, undefined, client);
    const { messages } = this.#read('show the outbox', response, outbox, 200);
    const secret = messages.findLast(({ to }) => to === email)?.secret ?? '';
    maskSecret(secret, 'password');
    const token = await userToken(client, email, password, secret);
    maskSecret(token, 'user-token');
    return token;
  }

  async #idOf(name: string): Promise<string | undefined> {
    const response = await this.#send('GET', controlPaths.tenants);
    const allTenants = this.#read('list the tenants', response, tenants, 200);
    return allTenants.find((tenant) => tenant.name === name)?.id;
  }

  /** Removes a tenant; resolves to true if the tenant existed. */
  async #remove(id: string): Promise<boolean> {
    const path = controlPaths.tenant.replace(':id', encodeURIComponent(id));
    const response = await this.#send('DELETE', path, undefined, this.#clientOfRun);
    this.#done('remove a tenant', response, 200, 404);
    return response.status === 200;
  }

  /** Returns the tenant of this control; its actions must not affect other tenants. */
  #own(capability: Capability): KnownTenant {
    if (this.#tenant) return this.#tenant;
    throw new MissingCapability(capability, 'the case has no tenant of its own to control');
  }

  #within(path: string): string {
    if (!this.isolates) return path;
    return `${path}?tenant=${encodeURIComponent(this.#own('tenant-control').id)}`;
  }

  #send(
    method: string,
    path: string,
    body?: unknown,
    client = this.#tenant?.client ?? this.#clientOfRun,
  ): Promise<HttpResponse> {
    const { url, token } = this.#address;
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    return client.send({
      method,
      url: url + path,
      headers: { ...bearer(token), ...json },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  #done(action: string, response: HttpResponse, ...statuses: readonly number[]): void {
    if (!statuses.includes(response.status))
      throw new ControlFailure(action, responseSummary(response));
  }

  #read<const Shape extends v.GenericSchema>(
    action: string,
    response: HttpResponse,
    shape: Shape,
    status: number,
  ): v.InferOutput<Shape> {
    this.#done(action, response, status);
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), shape), response.text);
    if (!parsed.success) throw new ControlFailure(action, responseSummary(response));
    return parsed.output;
  }
}
