/** Cases: how a device gets its token. Spec: Device authentication */
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import { defineScenario, type JudgingCase } from '../case.ts';
import {
  expectEach,
  expectEqual,
  expectPresent,
  expectStatus,
  expectThat,
  observedAnswer,
  shownAnswer,
} from '../expectations.ts';
import {
  acceptedDevice,
  factoryProvides,
  pendingDevice,
  preauthorizedDevice,
  unknownDevice,
} from '../stage/start-states.ts';
import type { SuiteDevice } from '../stage/suite-device.ts';
import { claimsOf, expectToken } from '../target/token-claims.ts';

const WEEK_SECONDS = 604_800;

/** A public key on P-384; nobody holds its private key. */
const keyOnAnotherCurve = [
  '-----BEGIN PUBLIC KEY-----',
  'MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEYnt2+Z3tdKbPaVC4C6nCYTixB+IjOxng',
  'Dozctl7XnaWhyQO89rSYbmvUUMbKGvKcJcbWzhvcTrnlV92Dlm5+GgafWCXGjG/+',
  'IM6EgXa7uR5RL8zoCbEsc8Pe9b9Z8UAB',
  '-----END PUBLIC KEY-----',
  '',
].join('\n');

const firstContact = defineScenario({
  area: 'authentication',
  name: 'First contact',
  start: 'a device that the target has never seen',
  risk: 'write',
  arrange: unknownDevice,
  cases: [
    {
      id: 'first-contact-is-401',
      title: 'A device that is neither known nor pre-authorized is answered 401 the first time.',
      requirements: ['auth.first-contact-is-401'],
      covers: ['post-auth-request 401'],
      run: async (device) => expectStatus(await device.authenticate(), 401),
    },
    {
      id: 'first-contact-is-recorded',
      title: 'After its first contact a user finds the device with the identity data it sent.',
      requirements: ['auth.first-contact-is-recorded'],
      needs: ['operator'],
      run: async (device, stage) => {
        await device.authenticate();
        const shown = await stage.settled(
          () => stage.operator.findDevice(device.identity),
          (found) => found !== undefined,
        );
        const found = expectPresent('a device of this identity', shown);
        expectEqual('identity data', found.identity_data, device.identity);
      },
    },
    {
      id: 'optional-fields-are-accepted',
      title: 'A request with tenant_token and external_id is not malformed: it is a first contact.',
      requirements: ['auth.optional-fields'],
      run: async (device) => {
        const members = { tenant_token: 'a tenant token', external_id: 'an external id' };
        expectStatus(await device.authenticate({ members }), 401);
      },
    },
    {
      id: 'unknown-fields-are-ignored',
      title: 'A field that the server does not know, such as the newer `tier`, is ignored.',
      requirements: ['auth.unknown-fields'],
      run: async (device) =>
        expectStatus(await device.authenticate({ members: { tier: 'standard' } }), 401),
    },
    {
      id: 'missing-signature-is-400',
      title: 'A request without the signature header is answered 400.',
      requirements: ['auth.signature-header-is-required'],
      covers: ['post-auth-request 400'],
      run: async (device) => expectStatus(await device.authenticate({ signature: null }), 400),
    },
    {
      id: 'empty-signature',
      title: 'An empty signature header may be taken for a missing one or for a wrong one.',
      requirements: ['auth.empty-signature-header'],
      observe: async (device) => observedAnswer(await device.authenticate({ signature: '' })),
    },
    {
      id: 'missing-id-data-is-400',
      title: 'A request without id_data is answered 400, though its signature fits.',
      requirements: ['auth.id-data-is-required'],
      run: async (device) =>
        expectStatus(await device.authenticate({ members: { id_data: undefined } }), 400),
    },
    {
      id: 'missing-pubkey-is-400',
      title: 'A request without pubkey is answered 400.',
      requirements: ['auth.pubkey-is-required'],
      run: async (device) =>
        expectStatus(await device.authenticate({ members: { pubkey: undefined } }), 400),
    },
    {
      id: 'malformed-body-is-400',
      title: 'A signed body that is no JSON object with texts as fields is answered 400.',
      requirements: ['auth.malformed-is-400'],
      run: async (device) => {
        const bodies = {
          'no JSON': '{"id_data":',
          'an array': '[]',
          'a number as id_data': device.authRequest({ id_data: 7 }),
          'an object as id_data': device.authRequest({ id_data: device.identity }),
          'null as pubkey': device.authRequest({ pubkey: null }),
        };
        await expectEach(400, bodies, (text) => device.authenticate({ text }));
      },
    },
    {
      id: 'id-data-that-is-no-json-is-400',
      title: 'An id_data that is not itself a JSON text is answered 400.',
      requirements: ['auth.id-data-is-json-text'],
      run: async (device) =>
        expectStatus(await device.authenticate({ members: { id_data: 'serial 7' } }), 400),
    },
    {
      id: 'pubkey-that-is-no-pem-is-400',
      title: 'A pubkey that is no PEM encoded key is answered 400.',
      requirements: ['auth.pubkey-is-pem'],
      run: async (device) =>
        expectStatus(await device.authenticate({ members: { pubkey: 'ssh-ed25519 AAAA' } }), 400),
    },
    {
      id: 'other-curve',
      title: 'A key on the curve P-384, which the contract does not name, may be refused.',
      requirements: ['auth.other-curves'],
      observe: async (device) => {
        const members = { pubkey: keyOnAnotherCurve };
        return observedAnswer(await device.authenticate({ members }));
      },
    },
  ],
});

const decision = defineScenario({
  area: 'authentication',
  name: 'The decision of a user',
  start: 'a device that waits for a decision',
  risk: 'write',
  needs: ['operator'],
  arrange: pendingDevice,
  cases: [
    {
      id: 'undecided-is-401',
      title: 'A device that asks again before anyone has decided is answered 401 again.',
      requirements: ['auth.undecided-is-401'],
      run: async (device) => expectStatus(await device.authenticate(), 401),
    },
    {
      id: 'accepted-gets-token',
      title: 'Once a user has accepted the device, its next request is answered 200 with a token.',
      requirements: ['auth.accepted-gets-token'],
      covers: ['post-auth-request 200'],
      run: async (device, stage) => {
        await stage.operator.decide(device.id, device.key, 'accepted');
        const answer = await stage.settled(
          () => device.authenticate(),
          ({ status }) => status === 200,
        );
        expectStatus(answer, 200);
      },
    },
    {
      id: 'rejected-is-refused',
      title: 'Once a user has rejected the device, its next request is answered 401 or 403.',
      requirements: ['auth.rejected-is-refused'],
      run: async (device, stage) => {
        await stage.operator.decide(device.id, device.key, 'rejected');
        expectStatus(await device.authenticate(), 401, 403);
      },
    },
  ],
});

const token = defineScenario({
  area: 'authentication',
  name: 'The token',
  start: 'a device that a user has pre-authorized',
  risk: 'write',
  needs: ['operator'],
  arrange: preauthorizedDevice,
  cases: [
    {
      id: 'preauthorized-gets-token',
      title: 'A pre-authorized device is answered 200 with a token the first time it asks.',
      requirements: ['auth.preauthorized-gets-token'],
      run: async (device) => expectStatus(await device.authenticate(), 200),
    },
    {
      id: 'token-is-plain-text',
      title: 'The token is the whole body: three parts of a JWT, no quotes, no line end.',
      requirements: ['auth.token-is-plain-text'],
      run: async (device) => {
        const answer = await device.authenticate();
        expectStatus(answer, 200);
        const isBare = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(answer.text);
        expectThat(isBare, 'a bare JWT as the body', shownAnswer(answer));
      },
    },
    {
      id: 'token-lasts-a-week',
      title: 'A device token expires one week after it was issued, by its own claims.',
      requirements: ['tokens.device-token-lasts-a-week'],
      run: async (device) => {
        const { exp, iat } = claimsOf(await device.authenticate());
        expectEqual('seconds from iat to exp', exp - iat, WEEK_SECONDS);
      },
    },
    {
      id: 'body-is-signed-as-sent',
      title: 'White space and a line end in the body belong to what is signed.',
      requirements: ['auth.body-is-what-is-signed'],
      run: async (device) => {
        const text = `${JSON.stringify(JSON.parse(device.authRequest()), null, 2)}\n`;
        expectStatus(await device.authenticate({ text }), 200);
      },
    },
    {
      id: 'authorization-header-is-ignored',
      title: 'A meaningless Authorization header, as some clients send, does not matter.',
      requirements: ['auth.authorization-is-ignored'],
      run: async (device) => {
        const headers = { authorization: 'API_KEY' };
        expectStatus(await device.authenticate({ headers }), 200);
      },
    },
    {
      id: 'signature-by-another-key-is-401',
      title: 'A signature by another key than the one in the request is answered 401.',
      requirements: ['auth.signature-must-verify'],
      run: async (device, stage) =>
        expectStatus(await device.authenticate({ signedBy: await stage.newKey() }), 401),
    },
    {
      id: 'signature-over-another-body-is-401',
      title: 'A signature over other bytes than the body that is sent is answered 401.',
      requirements: ['auth.signature-must-verify', 'auth.body-is-what-is-signed'],
      run: async (device) => {
        const signedText = `${device.authRequest()}\n`;
        expectStatus(await device.authenticate({ signedText }), 401);
      },
    },
    {
      id: 'signature-that-is-no-base64-is-refused',
      title: 'A signature header that is not Base64 grants nothing: 400 or 401.',
      requirements: ['auth.signature-must-verify'],
      run: async (device) =>
        expectStatus(await device.authenticate({ signature: '!not base64!' }), 400, 401),
    },
  ],
});

const known = defineScenario({
  area: 'authentication',
  name: 'A device that is known',
  start: 'an accepted device with a token',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'renewed-token-works',
      title: 'An accepted device may ask for a token again, and the new one opens the device API.',
      requirements: ['tokens.renewal'],
      run: async (device, stage) => {
        const renewed = stage.caller(expectToken(await device.authenticate()));
        const query = factoryProvides;
        expectStatus(await renewed.call('get-next-deployment', { query }), 200, 204);
      },
    },
    {
      id: 'member-order-does-not-matter',
      title: 'The same identity with its members in another order, and spaced, is the same device.',
      requirements: ['auth.identity-is-the-content'],
      run: async (device) => {
        const turned = Object.fromEntries(Object.entries(device.identity).reverse());
        const members = { id_data: JSON.stringify(turned, null, 1) };
        expectStatus(await device.authenticate({ members }), 200);
      },
    },
    {
      id: 'new-key-waits',
      title: 'A known identity with a new key is answered 401 until a user accepts that key.',
      requirements: ['auth.new-key-waits'],
      run: async (device, stage) => {
        const signedBy = await stage.newKey();
        const members = { pubkey: signedBy.publicKeyPem };
        expectStatus(await device.authenticate({ members, signedBy }), 401);
      },
    },
  ],
});

const algorithmTitles: Readonly<Record<KeyType, string>> = {
  rsa: 'An RSA key signs the SHA-256 of the body by PKCS #1 version 1.5.',
  ecdsa: 'A P-256 key signs the SHA-256 of the body; R and S go in an ASN.1 sequence.',
  ed25519: 'An Ed25519 key signs the body itself, without a digest before.',
};

function algorithmCase(keyType: KeyType): JudgingCase<SuiteDevice> {
  return {
    id: `${keyType}-signature-is-accepted`,
    title: algorithmTitles[keyType],
    requirements: [`auth.${keyType}`],
    run: async (device) => expectStatus(await device.authenticate(), 200),
  };
}

const wrongFormTitles: Readonly<Record<KeyType, string>> = {
  rsa: 'An RSA signature with PSS padding is answered 401.',
  ecdsa: 'A P-256 signature as 64 bare bytes, or over another digest, is answered 401.',
  ed25519: 'An Ed25519 signature over a digest of the body is answered 401.',
};

function wrongFormCase(keyType: KeyType): JudgingCase<SuiteDevice> {
  return {
    id: `${keyType}-signature-in-another-form-is-401`,
    title: wrongFormTitles[keyType],
    requirements: [`auth.${keyType}`, 'auth.signature-must-verify'],
    run: async (device) => {
      const body = Buffer.from(device.authRequest());
      await expectEach(401, device.key.wrongForms, (sign) =>
        device.authenticate({ signature: sign(body).toString('base64') }),
      );
    },
  };
}

function algorithmScenario(keyType: KeyType, start: string) {
  return defineScenario({
    area: 'authentication',
    name: 'Key algorithms',
    start,
    risk: 'write',
    needs: ['operator'],
    arrange: (stage) => preauthorizedDevice(stage, keyType),
    cases: [algorithmCase(keyType), wrongFormCase(keyType)],
  });
}

/** Spec: Device authentication */
export const authenticationCases = [
  ...firstContact,
  ...decision,
  ...token,
  ...algorithmScenario('rsa', 'a pre-authorized device with an RSA key'),
  ...algorithmScenario('ecdsa', 'a pre-authorized device with a P-256 key'),
  ...algorithmScenario('ed25519', 'a pre-authorized device with an Ed25519 key'),
  ...known,
];
