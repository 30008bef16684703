/**
 * Cases: the tokens with which users call the management API. Spec: Authentication, rules 2 to 4
 */
import { userCalls } from '../../context/every-call.ts';
import { secondUser } from '../../context/second-user.ts';
import { authorizationOf, createShortLivedToken } from '../../context/short-lived-token.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { expectEach, expectEqual, expectStatus } from '../../target/expectations.ts';
import { claimsOf } from '../../target/token-claims.ts';

/** The lifetime of a login's token; longer than any run. */
const LIFETIME_SECONDS = 7 * 86_400;
const LOGINS = 3;

const personal = defineScenario<string>({
  area: 'audit-log',
  name: 'A personal access token',
  start: 'a user with a new personal access token',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => createShortLivedToken(context, LIFETIME_SECONDS),
  cases: [
    {
      id: 'personal-token-opens-the-log',
      title: 'With a personal access token, the audit log is answered with 200 and is exported.',
      requirements: ['tokens.login-opens-management'],
      run: (token, context) =>
        expectEach(200, context.offered(userCalls), (call) => call(context.caller(token))),
    },
  ],
});

const logins = defineScenario<TestContext>({
  area: 'audit-log',
  name: 'A user who logs in again',
  start: 'a tenant of its own with a second user',
  effect: 'write',
  needs: ['user', 'tenant-control'],
  arrange: (context) => context,
  cases: [
    {
      id: 'login-token-lasts-a-week',
      title: 'The token of a login lasts one week, by its claims `iat` and `exp`, if it has them.',
      requirements: ['tokens.login-token-lasts-a-week'],
      run: async (context) => {
        const { logIn } = await secondUser(context);
        const { authorization = '' } = authorizationOf(await logIn());
        const { iat, exp } = claimsOf(authorization.replace('Bearer ', ''));
        expectEqual('seconds from iat to exp', exp - iat, LIFETIME_SECONDS);
      },
    },
    {
      id: 'login-ends-no-other-token',
      title: `After ${LOGINS} logins of one user, each of the ${LOGINS} tokens opens the audit log.`,
      requirements: ['tokens.login-opens-management'],
      run: async (context) => {
        const { logIn } = await secondUser(context);
        const admins = [];
        for (let loginCount = 0; loginCount < LOGINS; loginCount += 1) admins.push(await logIn());
        for (const { caller } of admins) expectStatus(await caller.call('list-audit-logs'), 200);
      },
    },
  ],
});

/** Spec: Authentication */
export const userTokenCases = [...personal, ...logins];
