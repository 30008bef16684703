/** The stage that identifies the caller of a request. Spec: Authentication */
import { Refusal } from '../http/refusal.ts';
import type { Callers } from './callers.ts';
import type { Stage } from './stage.ts';

/** Moves the request to its caller's tenant; the first one where no token names another. */
export function authenticate(callers: Callers): Stage {
  return (context) => {
    const { exchange, endpoint } = context;
    const caller = callers.find(exchange, endpoint.operation);
    if (caller instanceof Refusal) {
      // Also a refusal tells the time of the tenant, by whose clock a token or a link has expired.
      const tenant = callers.named(exchange, endpoint.operation);
      if (tenant) context.moveTo(tenant);
      exchange.record.deviceId = callers.deviceIn(exchange.request);
      return caller;
    }
    const { tenant = context.tenants.first, device, user } = caller;
    context.moveTo(tenant);
    context.device = device;
    context.user = user;
    const { record } = exchange;
    record.deviceId = device?.id;
    record.userId = user?.id;
    return undefined;
  };
}
