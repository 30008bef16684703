/** Applies planned faults to a request of a tenant, once its caller and its body are known. */
import * as v from 'valibot';
import type { Operation } from '../../fixtures/contract/operation.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Caller } from '../pipeline/callers.ts';
import type { RequestContext } from '../pipeline/context.ts';
import type { Interception } from '../pipeline/interception.ts';
import type { ResponseTransform } from '../pipeline/plug-ins.ts';
import type { Services } from '../pipeline/services.ts';
import type { Tenant } from '../tenants/tenants.ts';
import { FaultCall, jsonOf } from './call.ts';
import { Injection } from './injection.ts';
import { faultPlansOf } from './tenant-faults.ts';

const tenantTokenShape = v.object({ tenant_token: v.string() });
const basicCredentials = /^basic +([A-Za-z0-9+/=]+) *$/i;

/** Chooses faults from the plans of the tenants, and runs them. */
export class FaultTransform implements ResponseTransform {
  readonly #services: Pick<Services, 'headerNames' | 'log' | 'tenants'>;

  constructor(services: Pick<Services, 'headerNames' | 'log' | 'tenants'>) {
    this.#services = services;
  }

  /** True if any tenant has active plans. */
  get isActive(): boolean {
    return this.#services.tenants.some((tenant) => faultPlansOf(tenant).isActive);
  }

  /** Returns the fault for the request, if any. A fault also assigns the request to its tenant. */
  intercept(
    context: RequestContext,
    caller: Caller,
    onStatusSent: (status: number) => void,
  ): Interception | undefined {
    const { headerNames, log } = this.#services;
    const { exchange, received, knownTenant } = context;
    const { operation } = context.endpoint;
    const raw = Buffer.isBuffer(received) ? received : undefined;
    const tenant = caller.tenant ?? knownTenant ?? this.#tenantOf(operation, exchange, raw);
    const plans = faultPlansOf(tenant);
    if (!plans.isActive) return undefined;
    const { store } = tenant;
    const requestIdHeader = headerNames.requestId;
    const call = new FaultCall({ operation, exchange, caller, raw, store, requestIdHeader });
    const fault = plans.choose(call, tenant.clock.now());
    if (!fault) return undefined;
    context.switchTo(tenant);
    exchange.record.deviceId = call.deviceId;
    exchange.record.userId = caller.user?.id;
    return new Injection({ fault, call, tenant, headerNames, log, onStatusSent });
  }

  /** Returns the tenant that a request without a token will belong to. */
  #tenantOf({ authorization }: Operation, { request }: Exchange, raw: Buffer | undefined): Tenant {
    const { tenants } = this.#services;
    if (authorization === 'signature') {
      const body = v.safeParse(tenantTokenShape, jsonOf(raw));
      const token = body.success ? body.output.tenant_token : '';
      return (token === '' ? undefined : tenants.findByToken(token)) ?? tenants.first;
    }
    const [, credentials] = basicCredentials.exec(request.headers.authorization ?? '') ?? [];
    if (authorization !== 'basic' || credentials === undefined) return tenants.first;
    const [email = ''] = Buffer.from(credentials, 'base64').toString().split(':', 1);
    return tenants.findByEmail(email.toLowerCase()) ?? tenants.first;
  }
}
