/** Where a request meets the planned faults of its world: once its caller and its body are known. */
import * as v from 'valibot';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Caller } from '../../pipeline/callers.ts';
import type { Services } from '../../pipeline/services.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import { Call, jsonOf } from './call.ts';
import { Injection } from './injection.ts';

/** A request before anything of it is checked. */
interface Arrival {
  readonly operation: Operation;
  readonly exchange: Exchange;
  /** Nobody when the token is not in order. */
  readonly caller: Caller;
  readonly raw: Buffer | undefined;
  /** Told once, with the status that the caller saw in the end; 0 when he saw none. */
  readonly settled: (status: number) => void;
}

const tenantTokenShape = v.object({ tenant_token: v.string() });
const basicForm = /^basic +([A-Za-z0-9+/=]+) *$/i;

/** Asks the plans of the worlds. */
export class FaultGate {
  readonly #services: Services;

  constructor(services: Services) {
    this.#services = services;
  }

  /** Whether a plan may concern this caller; of one without a world, whether there is any plan. */
  isArmedFor({ tenant }: Caller): boolean {
    if (tenant) return tenant.faults.isArmed;
    return this.#services.tenants.list().some(({ faults }) => faults.isArmed);
  }

  /** The fault that the request meets; its world is settled by this. */
  choose({ operation, exchange, caller, raw, settled }: Arrival): Injection | undefined {
    const { names, log } = this.#services;
    const world = caller.tenant ?? exchange.world ?? this.#worldOf(operation, exchange, raw);
    if (!world.faults.isArmed) return undefined;
    const { store } = world;
    const requestIdHeader = names.requestId;
    const call = new Call({ operation, exchange, caller, raw, store, requestIdHeader });
    const fault = world.faults.choose(call);
    if (!fault) return undefined;
    exchange.world = world;
    exchange.record.deviceId = caller.device?.id;
    exchange.record.userId = caller.user?.id;
    return new Injection({ fault, call, world, names, log, settled });
  }

  /** The world that a request without a token will turn out to be of. */
  #worldOf({ authorization }: Operation, { request }: Exchange, raw: Buffer | undefined): Tenant {
    const { tenants } = this.#services;
    if (authorization === 'signature') {
      const body = v.safeParse(tenantTokenShape, jsonOf(raw));
      const token = body.success ? body.output.tenant_token : '';
      return (token === '' ? undefined : tenants.findByToken(token)) ?? tenants.first;
    }
    const [, credentials] = basicForm.exec(request.headers.authorization ?? '') ?? [];
    if (authorization !== 'basic' || credentials === undefined) return tenants.first;
    const [email = ''] = Buffer.from(credentials, 'base64').toString().split(':', 1);
    return tenants.findByEmail(email.toLowerCase()) ?? tenants.first;
  }
}
