/** Cases: how a device gets its token. Spec: States and transitions; Device authentication */
import * as v from 'valibot';
import { errorBody } from '../../context/error-body.ts';
import { requireRefusal, requireToken } from '../../context/granted.ts';
import {
  acceptedDevice,
  factoryProvides,
  pendingDevice,
  preauthorizedDevice,
  unknownDevice,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import {
  anySuccess,
  expectEach,
  expectEqual,
  expectPresent,
  expectShape,
  expectStatus,
  expectThat,
  NotObservable,
  responseSummary,
} from '../../target/expectations.ts';
import { claimsOf, expectToken } from '../../target/token-claims.ts';

const WEEK_SECONDS = 604_800;
/** Tolerated difference between the clocks of the servers behind one address. */
const CLOCKS_APART_SECONDS = 60;
/** Time within which a new token must differ, since its claims contain times in seconds. */
const OTHER_TOKEN_WAIT_MAX_MS = 1500;

/** How often a refused device authenticates again. */
const REPEATED_REQUESTS = 3;

const toMalformed = {
  operation: 'post-auth-request',
  requirement: 'auth.malformed-is-400',
} as const;
const toUnknown = {
  operation: 'post-auth-request',
  requirement: 'auth.first-contact-is-401',
} as const;

async function expectRecorded(device: SuiteDevice, context: TestContext): Promise<void> {
  const shownDevice = await context.eventually(
    () => context.admin.findDevice(device.identity),
    (userDevice) => userDevice !== undefined,
  );
  const userDevice = expectPresent('a device of this identity', shownDevice);
  expectEqual('identity data', userDevice.identity_data, device.identity);
}

async function expectRefusedEachTime(
  device: SuiteDevice,
  statuses: readonly number[],
  options?: Parameters<SuiteDevice['authenticate']>[0],
): Promise<void> {
  for (let request = 1; request <= REPEATED_REQUESTS; request += 1) {
    expectStatus(await device.authenticate(options), ...statuses);
  }
}

const firstContact = defineScenario({
  area: 'authentication',
  name: 'First contact',
  start: 'a device that the target has never seen',
  effect: 'write',
  arrange: unknownDevice,
  cases: [
    {
      id: 'first-contact-is-401',
      title:
        'The first request of a device that is neither known nor pre-authorized is answered with 401.',
      requirements: ['auth.first-contact-is-401'],
      covers: ['post-auth-request 401'],
      run: async (device) => expectStatus(await device.authenticate(), 401),
    },
    {
      id: 'first-contact-is-recorded',
      title:
        'After its first contact, a user finds the device with the identity data that it sent.',
      requirements: ['auth.first-contact-is-recorded'],
      needs: ['user'],
      run: async (device, context) => {
        await device.authenticate();
        await expectRecorded(device, context);
      },
    },
    {
      id: 'first-contact-with-external-id-is-recorded',
      title: 'A first contact that names an external_id is recorded with the identity data.',
      requirements: ['auth.first-contact-is-recorded'],
      needs: ['user'],
      run: async (device, context) => {
        // Another case judges the response.
        await device.authenticate({ members: { external_id: 'vehicle-7' } });
        await expectRecorded(device, context);
      },
    },
    {
      id: 'refusals-are-error-bodies',
      title: 'The 400 of a malformed request and the 401 of a first contact carry an Error body.',
      requirements: ['auth.refusals-are-errors'],
      run: async (device) => {
        const malformed = { members: { id_data: undefined } };
        expectShape(requireRefusal(toMalformed, await device.authenticate(malformed)), errorBody);
        expectShape(requireRefusal(toUnknown, await device.authenticate()), errorBody);
      },
    },
    {
      id: 'refusal-says-why',
      title: 'The Error body of a first contact says why the device is refused.',
      requirements: ['auth.refusal-says-why'],
      run: async (device) => {
        const response = requireRefusal(toUnknown, await device.authenticate());
        const { error } = expectShape(response, errorBody);
        const isStated = error !== undefined && error !== '';
        expectThat(isStated, 'a string in `error`', responseSummary(response));
      },
    },
  ],
});

const decision = defineScenario({
  area: 'authentication',
  name: 'The decision of a user',
  start: 'a device that waits for a decision',
  effect: 'write',
  needs: ['user'],
  arrange: pendingDevice,
  cases: [
    {
      id: 'undecided-is-401',
      title:
        'A device that authenticates again before a decision is answered with 401 each time, whatever external_id it names.',
      requirements: ['auth.undecided-is-401'],
      run: async (device) => {
        await expectRefusedEachTime(device, [401]);
        await expectRefusedEachTime(device, [401], { members: { external_id: 'vehicle-7' } });
      },
    },
    {
      id: 'accepted-gets-token',
      title:
        'Once a user has accepted the device, its next request is answered with 200 and a token.',
      requirements: ['auth.accepted-gets-token'],
      covers: ['post-auth-request 200'],
      run: async (device, context) => {
        await context.admin.decide(device.id, device.key, 'accepted');
        const response = await context.eventually(
          () => device.authenticate(),
          ({ status }) => status === 200,
        );
        expectStatus(response, 200);
      },
    },
    {
      id: 'rejected-is-refused',
      title: 'Once a user has rejected the device, its next request is answered with 401 or 403.',
      requirements: ['auth.rejected-is-refused'],
      run: async (device, context) => {
        await context.admin.decide(device.id, device.key, 'rejected');
        await expectRefusedEachTime(device, [401, 403]);
      },
    },
    {
      id: 'decommissioned-is-unknown',
      title: 'Once a user has decommissioned the device, it is answered with 401 like a new one.',
      requirements: ['auth.decommissioned-is-unknown'],
      run: async (device, context) => {
        await context.admin.decommission(device.id);
        device.id = '';
        expectStatus(await device.authenticate(), 401);
      },
    },
  ],
});

const jsonObject = v.pipe(v.string(), v.parseJson(), v.looseObject({}));

/** Returns true when a part of a JWT is the Base64url of a JSON object. */
function isJsonObject(part = ''): boolean {
  const text = Buffer.from(part, 'base64url').toString('utf8');
  return /^[\w-]+$/.test(part) && v.is(jsonObject, text);
}

const preauthorized = defineScenario({
  area: 'authentication',
  name: 'Pre-authorized device',
  start: 'a device that a user has pre-authorized',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => preauthorizedDevice(context),
  cases: [
    {
      id: 'preauthorized-gets-token',
      title: 'The first request of a pre-authorized device is answered with 200 and a token.',
      requirements: ['auth.preauthorized-gets-token'],
      run: async (device) => expectStatus(await device.authenticate(), 200),
    },
    {
      id: 'token-is-plain-text',
      title: 'The token is the whole body, without quotes, white space or a line end.',
      requirements: ['auth.token-is-plain-text'],
      run: async (device) => {
        const response = requireToken(await device.authenticate());
        expectThat(/^[^\s"{}]+$/.test(response.text), 'a bare token', responseSummary(response));
      },
    },
    {
      id: 'token-is-a-jwt',
      title: 'The token is a JWT: header, claims and signature, joined by dots.',
      requirements: ['auth.token-is-a-jwt'],
      run: async (device) => {
        const response = requireToken(await device.authenticate());
        // Another requirement covers whitespace around the token.
        const [header, claims, signature, ...more] = response.text
          .trim()
          .replaceAll('"', '')
          .split('.');
        const isJwt = isJsonObject(header) && isJsonObject(claims) && more.length === 0;
        expectThat(isJwt && /^[\w-]+$/.test(signature ?? ''), 'a JWT', responseSummary(response));
      },
    },
    {
      id: 'preauthorized-must-sign',
      title: 'A pre-authorized device without a valid signature is refused.',
      requirements: ['auth.preauthorized-must-sign'],
      run: async (device, context) => {
        const signedBy = await context.newKey();
        expectStatus(await device.authenticate({ signedBy }), 400, 401, 403);
      },
    },
    {
      id: 'preauthorized-with-another-key-is-refused',
      title:
        'A pre-authorized identity with another key is refused, even if that key signs the request.',
      requirements: ['auth.preauthorized-must-sign'],
      run: async (device, context) => {
        const signedBy = await context.newKey();
        const members = { pubkey: signedBy.publicKeyPem };
        await expectRefusedEachTime(device, [400, 401, 403], { signedBy, members });
      },
    },
  ],
});

/** Headers that some clients send and that have no effect. */
const meaningless = {
  'an API key': 'API_KEY',
  'an empty token': 'Bearer ',
  'a malformed token': 'Bearer nonsense',
  'another scheme': 'Basic dXNlcjpwYXNzd29yZA==',
};

const knownDeviceCases = defineScenario({
  area: 'authentication',
  name: 'A known device',
  start: 'an accepted device with a token',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'token-lasts-a-week',
      title: 'By its own claims, a device token expires one week after it was issued.',
      requirements: ['tokens.device-token-lasts-a-week'],
      run: async (device) => {
        const { exp, iat } = claimsOf(expectToken(requireToken(await device.authenticate())));
        expectEqual('seconds from iat to exp', exp - iat, WEEK_SECONDS);
      },
    },
    {
      id: 'token-lasts-a-week-from-now',
      title: 'By its own claims, a new token expires a week after the time of the response.',
      requirements: ['tokens.device-token-lasts-a-week'],
      run: async (device, context) => {
        const response = requireToken(await device.authenticate());
        const { exp, iat } = claimsOf(expectToken(response));
        if (exp - iat !== WEEK_SECONDS) throw new NotObservable('it lasts another time');
        const apart = Math.abs(iat - context.serverNowMs(response) / 1000);
        const isNow = apart <= CLOCKS_APART_SECONDS;
        expectThat(isNow, `iat within ${CLOCKS_APART_SECONDS} s of Date`, `${apart} s apart`);
      },
    },
    {
      id: 'renewed-token-works',
      title: 'An accepted device may request a new token, which gives access to the device API.',
      requirements: ['tokens.renewal'],
      run: async (device, context) => {
        const response = await device.authenticate();
        expectStatus(response, 200);
        const query = factoryProvides;
        const renewedCaller = context.caller(response.text);
        expectStatus(await renewedCaller.call('get-next-deployment', { query }), ...anySuccess);
      },
    },
    {
      id: 'earlier-token-still-works',
      title: 'An earlier token of a device still gives access after it got a new one.',
      requirements: ['tokens.device-token-lasts-a-week'],
      run: async (device, context) => {
        // Two tokens that are issued in the same second may be equal.
        const response = await context.eventually(
          () => device.authenticate(),
          ({ text }) => text !== device.token,
          OTHER_TOKEN_WAIT_MAX_MS,
        );
        expectStatus(response, 200);
        const query = factoryProvides;
        expectStatus(await device.call('get-next-deployment', { query }), ...anySuccess);
      },
    },
    {
      id: 'authorization-header-is-ignored',
      title: 'A meaningless Authorization header, as some clients send, is ignored.',
      requirements: ['auth.authorization-is-ignored'],
      run: (device) =>
        expectEach(200, meaningless, (authorization) =>
          device.authenticate({ headers: { authorization } }),
        ),
    },
    {
      id: 'same-request-after-the-rejection-is-refused',
      title: 'The request that was granted a token, byte for byte, is refused after a rejection.',
      requirements: ['auth.rejected-is-refused'],
      run: async (device, context) => {
        const request = device.authenticationRequest();
        requireToken(await context.client.send(request));
        await context.admin.decide(device.id, device.key, 'rejected');
        expectStatus(await context.client.send(request), 400, 401, 403);
      },
    },
    {
      id: 'token-without-signature-grants-nothing',
      title: 'The token of a device does not replace the signature of a request.',
      requirements: ['auth.authorization-is-ignored'],
      run: async (device, context) => {
        const headers = { authorization: `Bearer ${device.token}` };
        const unsigned = { signedBy: await context.newKey(), headers };
        expectStatus(await device.authenticate(unsigned), 400, 401, 403);
      },
    },
    {
      id: 'new-key-waits',
      title: 'A known identity with a new key is answered with 401 until a user accepts that key.',
      requirements: ['auth.new-key-waits'],
      run: async (device, context) => {
        const signedBy = await context.newKey();
        const members = { pubkey: signedBy.publicKeyPem };
        expectStatus(await device.authenticate({ members, signedBy }), 401);
      },
    },
    {
      id: 'new-key-goes-on-waiting',
      title: 'A new key that no user accepts is refused each time, also beside the accepted key.',
      requirements: ['auth.new-key-waits'],
      run: async (device, context) => {
        const signedBy = await context.newKey();
        const members = { pubkey: signedBy.publicKeyPem };
        for (let request = 1; request <= REPEATED_REQUESTS; request += 1) {
          // Another case judges which of the two it is.
          expectStatus(await device.authenticate({ members, signedBy }), 401, 403);
          requireToken(await device.authenticate());
        }
      },
    },
  ],
});

/** Spec: States and transitions; Device authentication */
export const authenticationCases = [
  ...firstContact,
  ...decision,
  ...preauthorized,
  ...knownDeviceCases,
];
