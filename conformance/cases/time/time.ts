/** Cases: expiry of tokens. Spec: Authentication; Limits */
import { deviceCalls, userCalls } from '../../context/every-call.ts';
import {
  JUST_AFTER_SECONDS,
  justAfter,
  MINUTE_SECONDS,
  secondsUntil,
} from '../../context/expiry.ts';
import { createShortLivedToken } from '../../context/short-lived-token.ts';
import { acceptedDevice, factoryProvides } from '../../context/start-states.ts';
import { defineScenario } from '../../suite/case.ts';
import { ApiCaller } from '../../target/call.ts';
import {
  anySuccess,
  ExpectationFailure,
  expectEach,
  expectStatus,
  responseSummary,
} from '../../target/expectations.ts';
import { claimsOf, expectToken } from '../../target/token-claims.ts';

const WEEK_SECONDS = 7 * 86_400;

const tokens = defineScenario({
  area: 'time',
  name: 'The lifetime of a token',
  start: 'an accepted device with a token, on a clock that the suite moves',
  effect: 'write',
  needs: ['user', 'clock-control'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'token-lasts-a-week',
      title: 'A token still works a minute before its week ends.',
      requirements: ['tokens.device-token-lasts-a-week'],
      run: async (device, context) => {
        await context.control.advance(WEEK_SECONDS - MINUTE_SECONDS);
        expectStatus(
          await device.call('get-next-deployment', { query: factoryProvides }),
          ...anySuccess,
        );
      },
    },
    {
      id: 'token-lasts-no-longer',
      title: 'A token is refused a minute after its week has ended.',
      requirements: ['tokens.device-token-lasts-a-week', 'tokens.expired-is-refused'],
      run: async (device, context) => {
        await context.control.advance(WEEK_SECONDS + MINUTE_SECONDS);
        expectStatus(await device.call('get-next-deployment', { query: factoryProvides }), 401);
      },
    },
    {
      id: 'renewed-token-has-a-week-of-its-own',
      title: 'A token that was granted while another was valid lasts a week from then on.',
      requirements: ['tokens.device-token-lasts-a-week'],
      run: async (device, context) => {
        await context.control.advance(WEEK_SECONDS / 2);
        const renewedCaller = context.caller(expectToken(await device.authenticate()));
        const query = factoryProvides;
        const firstResponse = await renewedCaller.call('get-next-deployment', { query });
        if (firstResponse.status >= 300) {
          throw new ExpectationFailure('a success', responseSummary(firstResponse), [
            'tokens.renewal',
          ]);
        }
        await context.control.advance(WEEK_SECONDS - MINUTE_SECONDS);
        expectStatus(await renewedCaller.call('get-next-deployment', { query }), ...anySuccess);
      },
    },
    {
      id: 'token-ends-on-time',
      title: 'A token is refused right after the second that it names as its end.',
      requirements: ['tokens.end-on-time'],
      run: async (device, context) => {
        const tokenResponse = await device.authenticate();
        const { exp } = claimsOf(expectToken(tokenResponse));
        const end = new Date(exp * 1000).toISOString();
        const seconds = secondsUntil(context, tokenResponse, end);
        await context.control.advance(seconds + justAfter(tokenResponse));
        const query = factoryProvides;
        const response = await context
          .caller(tokenResponse.text)
          .call('get-next-deployment', { query });
        expectStatus(response, 401);
      },
    },
    {
      id: 'user-token-ends-on-time',
      title: "The audit log answers 401 to a user's token right after its lifetime.",
      requirements: ['tokens.end-on-time'],
      needs: ['audit-log'],
      run: async (_, context) => {
        const token = await createShortLivedToken(context, MINUTE_SECONDS);
        await context.control.advance(MINUTE_SECONDS + JUST_AFTER_SECONDS);
        expectStatus(await context.caller(token).call('list-audit-logs'), 401);
      },
    },
    {
      id: 'expired-token-is-refused',
      title: 'Every operation answers 401 to a token that has long expired, although it knew it.',
      requirements: ['tokens.expired-is-refused'],
      run: async ({ token }, context) => {
        const calls = Object.values(context.offered(deviceCalls));
        for (const call of calls) await call(context.caller(token));
        await context.control.advance(2 * WEEK_SECONDS);
        await expectEach(401, context.offered(deviceCalls), (call) => call(context.caller(token)));
        const cookie = new ApiCaller(context.client, { cookie: `JWT=${token}` });
        const { connect } = context.offered(deviceCalls);
        if (connect) await expectEach(401, { 'the cookie JWT of connect': cookie }, connect);
      },
    },
    {
      id: 'expired-user-token-is-refused',
      title: "The audit log answers 401 to a user's token a minute after its time.",
      requirements: ['tokens.expired-is-refused'],
      needs: ['audit-log'],
      run: async (_, context) => {
        const token = await createShortLivedToken(context, MINUTE_SECONDS);
        await context.caller(token).call('list-audit-logs', { query: { per_page: 1 } });
        await context.control.advance(2 * MINUTE_SECONDS);
        await expectEach(401, context.offered(userCalls), (call) => call(context.caller(token)));
      },
    },
    {
      id: 'expired-token-is-renewed',
      title: 'A device whose token has expired authenticates again and gets one that works.',
      requirements: ['tokens.expired-is-renewed'],
      run: async (device, context) => {
        await context.control.advance(2 * WEEK_SECONDS);
        const renewedCaller = context.caller(expectToken(await device.authenticate()));
        expectStatus(
          await renewedCaller.call('get-next-deployment', { query: factoryProvides }),
          ...anySuccess,
        );
      },
    },
  ],
});

/** Spec: Authentication, rule 3; Limits */
export const timeCases = tokens;
