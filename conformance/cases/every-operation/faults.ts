/** Cases: faults inside the server, and callers that exceed the rate limit. Spec: Errors; Limits */
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import { expectErrorBody } from '../../context/error-body.ts';
import {
  deviceCalls,
  type OperationCalls,
  tokenlessCalls,
  userCalls,
} from '../../context/every-call.ts';
import {
  acceptedDevice,
  factoryProvides,
  StartStateNotReached,
} from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { type CoveredStatus, defineScenario } from '../../suite/case.ts';
import { ApiCaller, bearer } from '../../target/call.ts';
import {
  anySuccess,
  ExpectationFailure,
  expectEach,
  expectStatus,
  observationOf,
  responseSummary,
} from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';

const WINDOW_SECONDS = 60;

type SendFaultyRequest = () => Promise<HttpResponse>;

/** Returns every operation of the target, each with a request that would be granted. */
async function everyOperation(context: TestContext) {
  const device = await acceptedDevice(context);
  const byDevice = callsBy(new ApiCaller(context.client, bearer(device.token)));
  const byUser = callsBy(context.admin.caller);
  const withToken = context.offered<SendFaultyRequest>({
    ...byDevice(deviceCalls),
    ...byUser(userCalls),
  });
  const withoutToken = byDevice(await tokenlessCalls(context, device));
  return { device, withToken, withoutToken, all: { ...withToken, ...withoutToken } };
}

function callsBy(caller: ApiCaller) {
  return (calls: OperationCalls): Readonly<Record<string, SendFaultyRequest>> =>
    Object.fromEntries(Object.entries(calls).map(([id, call]) => [id, () => call(caller)]));
}

function every(status: number, ...tables: readonly object[]): readonly CoveredStatus[] {
  const ids = tables.flatMap(Object.keys) as OperationId[];
  return ids.map((id): CoveredStatus => `${id} ${status}`);
}

const tokenless = { 'post-auth-request': true, 'download-configuration': true };

const faults = defineScenario({
  area: 'faults',
  name: 'Faults',
  start: 'a device and a user who may call every operation, and a server about to fail internally',
  effect: 'write',
  needs: ['user', 'fault-control'],
  arrange: everyOperation,
  cases: [
    {
      id: 'unexpected-fault-is-500',
      title: 'Every operation that fails inside the server is answered with 500.',
      requirements: ['errors.unexpected-is-500'],
      covers: every(500, deviceCalls, userCalls, tokenless),
      run: async ({ all }, context) => {
        await context.control.failNext(Object.keys(all) as OperationId[]);
        await expectEach(500, all, (send) => send());
      },
    },
    {
      id: 'fault-is-an-error-body',
      title: 'The 500 of every operation carries an Error body.',
      requirements: ['errors.body-is-error'],
      run: async ({ all }, context) => {
        await context.control.failNext(Object.keys(all) as OperationId[]);
        for (const send of Object.values(all)) expectErrorBody(await send());
      },
    },
  ],
});

const rateLimit = defineScenario({
  area: 'faults',
  name: 'Haste',
  start: 'a device and a user who have reached their rate limit',
  effect: 'write',
  needs: ['user', 'rate-control'],
  arrange: async (context) => {
    const arranged = await everyOperation(context);
    context.created.removeAtEnd('a rate limit', () => context.control.limitRate(undefined));
    await context.control.limitRate({ requests: 0, windowSeconds: WINDOW_SECONDS });
    return arranged;
  },
  cases: [
    {
      id: 'too-many-requests-is-429',
      title: 'Every operation that takes a token answers 429 to a caller beyond its rate limit.',
      requirements: ['errors.too-many-requests-is-429'],
      covers: every(429, deviceCalls, userCalls),
      run: async ({ withToken }) => expectEach(429, withToken, (send) => send()),
    },
    {
      id: 'too-many-requests-is-an-error-body',
      title: 'The 429 of every operation carries an Error body.',
      requirements: ['errors.body-is-error'],
      run: async ({ withToken }) => {
        for (const send of Object.values(withToken)) expectErrorBody(await send());
      },
    },
    {
      id: 'slowed-down-is-served',
      title:
        'A device that waits for the end of its rate window is served again, and others all along.',
      requirements: ['errors.slowed-down-is-served', 'errors.limit-is-of-one-caller'],
      needs: ['clock-control'],
      run: async ({ device }, context) => {
        await context.control.limitRate(undefined);
        const otherDevice = await acceptedDevice(context);
        await context.control.limitRate({ requests: 1, windowSeconds: WINDOW_SECONDS });
        const poll = (by = device) => by.call('get-next-deployment', { query: factoryProvides });
        await poll();
        const { status } = await poll();
        if (status !== 429)
          throw new StartStateNotReached(
            'a device beyond its rate limit',
            `it is answered with ${status}`,
          );
        const served = await poll(otherDevice);
        if (served.status === 429) {
          throw new ExpectationFailure('a success for another device', responseSummary(served), [
            'errors.limit-is-of-one-caller',
          ]);
        }
        await context.control.advance(WINDOW_SECONDS + 1);
        expectStatus(await poll(), ...anySuccess);
      },
    },
    {
      id: 'retry-after',
      title: 'How long the 429 of the next deployment asks the caller to wait.',
      requirements: ['errors.retry-after'],
      observe: async ({ device }) => {
        const { headers } = await device.call('get-next-deployment', { query: factoryProvides });
        return observationOf(`Retry-After: ${headers['retry-after'] ?? 'none'}`);
      },
    },
    {
      id: 'limit-without-a-token',
      title: 'How an authentication request, or a signed link, is answered under the same limit.',
      requirements: ['errors.limit-without-token'],
      covers: every(429, tokenless),
      observe: async ({ withoutToken }) => observationOf(await statusesOf(withoutToken)),
    },
  ],
});

async function statusesOf(calls: Readonly<Record<string, SendFaultyRequest>>): Promise<string> {
  const statuses: string[] = [];
  for (const [id, send] of Object.entries(calls)) statuses.push(`${id} ${(await send()).status}`);
  return statuses.join(', ');
}

export const faultCases = [...faults, ...rateLimit];
