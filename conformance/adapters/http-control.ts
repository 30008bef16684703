/**
 * Control of a testbed by its control listener, each case in a tenant of its own. An edition without
 * tenants is steered as a whole, and only by what ends with the case.
 */
import * as v from 'valibot';
import type { ManagementId } from '../../fixtures/contract/management/index.ts';
import type { OperationId } from '../../fixtures/contract/operations.ts';
import { controlPaths, unexpectedFault } from '../../fixtures/control-listener.ts';
import { type Capability, capabilitiesOf } from '../context/capabilities.ts';
import {
  type Control,
  ControlFailure,
  type ControlledTenant,
  type RateLimit,
  type TenantOrder,
} from '../context/control.ts';
import { ManagementAdmin } from '../context/management-admin.ts';
import type { Answer } from '../target/answer.ts';
import { bearer } from '../target/call.ts';
import { shownAnswer } from '../target/expectations.ts';
import type { Session } from '../target/target.ts';
import { MissingCapability } from './missing-capability.ts';
import { inviteWithoutPower, userToken } from './tenant-users.ts';

/** Where the control listener is, and what opens it. */
export interface ControlAddress {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
}

/** A tenant as its control knows it. */
interface World {
  readonly session: Session;
  readonly id: string;
  readonly adminToken: string;
}

/** What a control steers: all of the target without a world. */
interface Scope {
  readonly hasTenants?: boolean;
  readonly world?: World;
  /** How many plans of faults were made; each has a name of its own. */
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

/** Steered as a whole; a clock that jumped would end the tokens of all others. */
const withoutTenants: readonly Capability[] = ['fault-control', 'rate-control'];

/** The control listener on one line to it; of all the target, or of one tenant. */
export class HttpControl implements Control {
  readonly offers: ReadonlySet<Capability>;
  readonly isolates: boolean;
  readonly #address: ControlAddress;
  readonly #lasting: Session;
  readonly #world: World | undefined;
  readonly #plans: { made: number };

  /**
   * @param lasting a line that nobody ends before the run does, since tenants are removed over it
   * @param hasTenants whether devices of the target belong to tenants
   */
  constructor(
    address: ControlAddress,
    lasting: Session,
    { hasTenants = true, world, plans = { made: 0 } }: Scope = {},
  ) {
    this.#address = address;
    this.#lasting = lasting;
    this.#world = world;
    this.#plans = plans;
    this.isolates = hasTenants;
    this.offers = new Set(hasTenants ? capabilitiesOf('control') : withoutTenants);
  }

  /** The same where tenants are steered, since each has its line already. */
  on(session: Session): Control {
    if (this.isolates) return this;
    return new HttpControl(this.#address, session, { hasTenants: false, plans: this.#plans });
  }

  async newTenant({ session, name, learnSecret }: TenantOrder): Promise<ControlledTenant> {
    const adminEmail = `${name}@conformance.example`;
    const body = { name, adminEmail };
    const answer = await this.#send('POST', controlPaths.tenants, body, session);
    const made = this.#read('create a tenant', answer, madeTenant, 201);
    learnSecret(made.adminPassword, 'password');
    learnSecret(made.tenantToken, 'tenant-token');
    const adminToken = await userToken(session, made.adminEmail, made.adminPassword);
    learnSecret(adminToken, 'user-token');
    return {
      id: made.id,
      tenantToken: made.tenantToken,
      admin: new ManagementAdmin(session, adminToken),
      control: new HttpControl(this.#address, this.#lasting, {
        world: { session, id: made.id, adminToken },
      }),
      remove: () => this.#remove(made.id),
    };
  }

  /**
   * Removes a tenant that an earlier run has made; one that is gone, or never came about, is fine.
   * @param id as the target gave it; undefined when its answer never came back
   */
  async removeTenant(name: string, id: string | undefined): Promise<void> {
    const found = id ?? (await this.#idOf(name));
    if (found !== undefined) await this.#remove(found);
  }

  async suspend(): Promise<void> {
    const { id } = this.#own('tenant-control');
    const path = controlPaths.tenantStatus.replace(':id', encodeURIComponent(id));
    const answer = await this.#send('PUT', path, { status: 'suspended' });
    this.#done('suspend a tenant', answer, 200);
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
      quiet: true,
    }));
    const answer = await this.#send('POST', this.#within(controlPaths.faults), { rules });
    this.#done('plan faults', answer, 201);
  }

  async limitRate(limit: RateLimit | undefined): Promise<void> {
    const path = this.#within(controlPaths.rateLimit);
    const answer = await this.#send(limit ? 'POST' : 'DELETE', path, limit);
    this.#done('limit the rate', answer, 200);
  }

  async powerlessUser({ session, name, learnSecret }: TenantOrder): Promise<string> {
    const { adminToken } = this.#own('role-control');
    const email = `${name}@conformance.example`;
    const password = `of ${name}`;
    learnSecret(password, 'password');
    await inviteWithoutPower(session, adminToken, { role: name, email });
    const listed = await this.#send('GET', controlPaths.outbox, undefined, session);
    const { messages } = this.#read('show the outbox', listed, outbox, 200);
    const secret = messages.findLast(({ to }) => to === email)?.secret ?? '';
    learnSecret(secret, 'password');
    const token = await userToken(session, email, password, secret);
    learnSecret(token, 'user-token');
    return token;
  }

  async #idOf(name: string): Promise<string | undefined> {
    const answer = await this.#send('GET', controlPaths.tenants);
    const listed = this.#read('list the tenants', answer, tenants, 200);
    return listed.find((tenant) => tenant.name === name)?.id;
  }

  async #remove(id: string): Promise<void> {
    const path = controlPaths.tenant.replace(':id', encodeURIComponent(id));
    const answer = await this.#send('DELETE', path, undefined, this.#lasting);
    this.#done('remove a tenant', answer, 200, 404);
  }

  /** The tenant of this control; what is steered here must not reach those of others. */
  #own(capability: Capability): World {
    if (this.#world) return this.#world;
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
    session = this.#world?.session ?? this.#lasting,
  ): Promise<Answer> {
    const { url, token } = this.#address;
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    return session.send({
      method,
      url: url + path,
      headers: { ...bearer(token), ...json },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  #done(wish: string, answer: Answer, ...statuses: readonly number[]): void {
    if (!statuses.includes(answer.status)) throw new ControlFailure(wish, shownAnswer(answer));
  }

  #read<const Shape extends v.GenericSchema>(
    wish: string,
    answer: Answer,
    shape: Shape,
    status: number,
  ): v.InferOutput<Shape> {
    this.#done(wish, answer, status);
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), shape), answer.text);
    if (!parsed.success) throw new ControlFailure(wish, shownAnswer(answer));
    return parsed.output;
  }
}
