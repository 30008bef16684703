/** Cases: expiry of tokens and links. Spec: Authentication; Limits; ArtifactLink */
import { artifactLinkShape } from '../../fixtures/contract/resources.ts';
import { configurationLink, deviceCalls, userCalls } from '../context/every-call.ts';
import { passingUserToken } from '../context/passing-token.ts';
import {
  acceptedDevice,
  deviceAndArtifact,
  factoryProvides,
  StartStateMissed,
} from '../context/start-states.ts';
import type { TestContext } from '../context/test-context.ts';
import { defineScenario } from '../suite/case.ts';
import {
  anySuccess,
  expectEach,
  expectShape,
  expectStatus,
  expectThat,
  NotObservable,
} from '../target/expectations.ts';
import { claimsOf, expectToken } from '../target/token-claims.ts';

const WEEK_SECONDS = 7 * 86_400;
const MINUTE_SECONDS = 60;
/** Margin after an expiry, for the whole seconds in Date and for rounding. */
const JUST_AFTER_SECONDS = 2;

const tokens = defineScenario({
  area: 'time',
  name: 'The lifetime of a token',
  start: 'an accepted device with a token, on a clock that the suite moves',
  risk: 'write',
  needs: ['operator', 'clock-control'],
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
      id: 'token-ends-on-time',
      title: 'A token is refused right after the second that it names as its end.',
      requirements: ['tokens.end-on-time'],
      run: async (device, context) => {
        const granted = await device.authenticate();
        const { exp } = claimsOf(granted);
        const end = new Date(exp * 1000).toISOString();
        const seconds = secondsUntil(context, granted, end);
        await context.control.advance(seconds + justAfter(granted));
        const query = factoryProvides;
        const answer = await context.caller(granted.text).call('get-next-deployment', { query });
        expectStatus(answer, 401);
      },
    },
    {
      id: 'user-token-ends-on-time',
      title: "The audit log answers 401 to a user's token right after its lifetime.",
      requirements: ['tokens.end-on-time'],
      needs: ['audit-log'],
      run: async (_, context) => {
        const token = await passingUserToken(context, MINUTE_SECONDS);
        await context.control.advance(MINUTE_SECONDS + JUST_AFTER_SECONDS);
        expectStatus(await context.caller(token).call('list-audit-logs'), 401);
      },
    },
    {
      id: 'expired-token-is-refused',
      title: 'Every operation answers 401 to a token that has long expired.',
      requirements: ['tokens.expired-is-refused'],
      run: async ({ token }, context) => {
        await context.control.advance(2 * WEEK_SECONDS);
        await expectEach(401, context.offered(deviceCalls), (call) => call(context.caller(token)));
      },
    },
    {
      id: 'expired-user-token-is-refused',
      title: "The audit log answers 401 to a user's token a minute after its time.",
      requirements: ['tokens.expired-is-refused'],
      needs: ['audit-log'],
      run: async (_, context) => {
        const token = await passingUserToken(context, MINUTE_SECONDS);
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
        const renewed = context.caller(expectToken(await device.authenticate()));
        expectStatus(
          await renewed.call('get-next-deployment', { query: factoryProvides }),
          ...anySuccess,
        );
      },
    },
  ],
});

/** Returns the seconds from the answer until the time that it names. */
function secondsUntil(
  context: TestContext,
  answer: Parameters<TestContext['serverNowMs']>[0],
  moment: string,
) {
  // Earlier cases may have advanced a shared clock by an unknown time.
  if (!context.control.isolates && answer.headers.date === undefined) {
    throw new NotObservable('the target sends no Date header, so its clock is unknown');
  }
  const seconds = (Date.parse(moment) - context.serverNowMs(answer)) / 1000;
  if (Number.isFinite(seconds) && seconds > MINUTE_SECONDS) return Math.floor(seconds);
  throw new NotObservable(`the end is at ${moment}, which leaves no time to look`);
}

/** Returns the margin in seconds after an expiry; larger if the target's clock is not known. */
function justAfter({ headers }: Parameters<TestContext['serverNowMs']>[0]): number {
  return headers.date === undefined ? MINUTE_SECONDS : JUST_AFTER_SECONDS;
}

async function artifactLink(context: TestContext) {
  const { device, artifact } = await deviceAndArtifact(context, 'plain');
  const answer = await device.call('get-artifact-link', { path: { id: artifact.id } });
  if (answer.status !== 200)
    throw new StartStateMissed('a link', `it was answered ${answer.status}`);
  const { uri, expire } = expectShape(answer, artifactLinkShape);
  const follow = () => context.session.send({ method: 'GET', url: uri });
  return { seconds: secondsUntil(context, answer, expire), after: justAfter(answer), follow };
}

const artifactLinks = defineScenario({
  area: 'time',
  name: 'The expiry of a link to an artifact',
  start: 'a device with a link to an artifact file, on a clock that the suite moves',
  risk: 'write',
  needs: ['operator', 'clock-control', 'artifact-listing'],
  arrange: artifactLink,
  cases: [
    {
      id: 'artifact-link-lasts',
      title: 'A minute before its expiry time, the link still returns the file.',
      requirements: ['link.valid-until-expire'],
      run: async ({ seconds, follow }, context) => {
        await context.control.advance(seconds - MINUTE_SECONDS);
        expectStatus(await follow(), 200);
      },
    },
    {
      id: 'expired-artifact-link-is-refused',
      title: 'Right after its expiry time, the link returns no file.',
      requirements: ['link.expired'],
      run: async ({ seconds, after, follow }, context) => {
        await context.control.advance(seconds + after);
        const { status } = await follow();
        expectThat(status >= 400, 'a refusal', `status ${status}`);
      },
    },
  ],
});

async function configurationOffer(context: TestContext) {
  const device = await acceptedDevice(context);
  const uri = await configurationLink(context, device);
  if (uri === undefined) throw new StartStateMissed('a link to a configuration', 'there is none');
  const expire = new URL(uri).searchParams.get(context.names.linkExpire) ?? '';
  const follow = () => context.session.send({ method: 'GET', url: uri });
  const answer = await follow();
  return { seconds: secondsUntil(context, answer, expire), after: justAfter(answer), follow };
}

const configurationLinks = defineScenario({
  area: 'time',
  name: 'The expiry of a link to a configuration',
  start: 'a device that was offered a configuration, on a clock that the suite moves',
  risk: 'write',
  needs: ['operator', 'clock-control', 'configuration'],
  arrange: configurationOffer,
  cases: [
    {
      id: 'configuration-link-lasts',
      title: 'A minute before its expiry time, the link still returns the configuration.',
      requirements: ['download.valid-until-expire'],
      run: async ({ seconds, follow }, context) => {
        await context.control.advance(seconds - MINUTE_SECONDS);
        expectStatus(await follow(), 200);
      },
    },
    {
      id: 'expired-configuration-link-is-403',
      title:
        'Right after its expiry time, the link is answered 403, though its signature is valid.',
      requirements: ['download.expired-is-403'],
      run: async ({ seconds, after, follow }, context) => {
        await context.control.advance(seconds + after);
        expectStatus(await follow(), 403);
      },
    },
  ],
});

/** Spec: Authentication, rule 3; ArtifactLink; Device deployments v1 */
export const timeCases = [...tokens, ...artifactLinks, ...configurationLinks];
