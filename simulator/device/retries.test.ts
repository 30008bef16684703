import { afterEach, describe, expect, it } from 'vitest';
import { StatusError } from '../network/errors.ts';
import type { Policy } from '../plan/cohort.ts';
import { ClientFixture, deviceOf, InstantEnvironment, policy } from '../testing/client-fixture.ts';
import { waitAfterMs } from './retries.ts';

const fixture = new ClientFixture('http://127.0.0.1:9');
afterEach(() => fixture.close());

const circumstances = { operation: 'post-alerts', caller: 'device 0', elapsedMs: 1 };
const busy = new StatusError({ status: 429, retryAfterMs: 7000 }, circumstances);
const down = new StatusError({ status: 503 }, circumstances);

function waitMs(error: StatusError, attempt: number, backOff: Partial<Policy['backOff']>) {
  const device = deviceOf(undefined, { backOff: { ...policy.backOff, ...backOff } });
  return waitAfterMs(error, attempt, { device, environment: new InstantEnvironment(fixture) });
}

describe('the wait of a device after an error', () => {
  it('is the one that the server requests', () => {
    expect(waitMs(busy, 1, { kind: 'fixed' })).toBe(7000);
  });

  it('is the back-off of the device itself when it ignores Retry-After', () => {
    expect(waitMs(busy, 3, { kind: 'fixed', obeysRetryAfter: false })).toBe(500);
  });

  it('follows the policy of the cohort if the server requests nothing', () => {
    expect(waitMs(down, 3, { kind: 'exponential', minMs: 100 })).toBe(400);
    expect(waitMs(down, 30, { kind: 'exponential', maxMs: 9000 })).toBe(9000);
  });
});
