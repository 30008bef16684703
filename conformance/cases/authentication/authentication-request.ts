/** Cases: the fields of an authentication request. Spec: AuthRequest */
import { createPublicKey } from 'node:crypto';
import { acceptedDevice, unknownDevice } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import { defineScenario } from '../../suite/case.ts';
import { type InputBody, inputCases } from '../../suite/input-table.ts';
import {
  expectEach,
  expectEqual,
  expectPresent,
  expectStatus,
  observationOf,
  observedResponse,
} from '../../target/expectations.ts';
import { isMap } from '../../target/json-members.ts';
import type { HttpResponse } from '../../target/response.ts';
import { authRequestInputs, textualRequest } from './auth-request-fields.ts';

/** Asserts that the request was understood: refused for its content, or granted with a token. */
function expectUnderstood(response: HttpResponse): void {
  const isGranted = response.status === 200 && response.text.split('.').length === 3;
  if (!isGranted) expectStatus(response, 401, 403);
}

/** A public key on P-384; the suite does not have its private key. */
const keyOnAnotherCurve = [
  '-----BEGIN PUBLIC KEY-----',
  'MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEYnt2+Z3tdKbPaVC4C6nCYTixB+IjOxng',
  'Dozctl7XnaWhyQO89rSYbmvUUMbKGvKcJcbWzhvcTrnlV92Dlm5+GgafWCXGjG/+',
  'IM6EgXa7uR5RL8zoCbEsc8Pe9b9Z8UAB',
  '-----END PUBLIC KEY-----',
  '',
].join('\n');

/** An RSA key of 1024 bits; the suite does not have its private key. */
const shortRsaKey = [
  '-----BEGIN PUBLIC KEY-----',
  'MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC+tZlfKGWLOfgUI/5FB28e6pxZ',
  'B8R0aD4X57L8uRPtWZiYKBGSQZazhAzz0FAIgYBBmZSzqJCv5xBOlxd9fSN7Et+a',
  'XCu5zx8EuPw9rsXxVhGKtrBCCplZkLtIhdfhQZ1TTqjNlmPB6UAEPeVH2YGlKcti',
  'rL1cAy8t2MYoy4ASCwIDAQAB',
  '-----END PUBLIC KEY-----',
  '',
].join('\n');

/** Functions that encode a PEM key differently, by a description. */
const keyTexts: Readonly<Record<string, (pem: string) => string>> = {
  'Windows line ends': (pem) => pem.replaceAll('\n', '\r\n'),
  'no final line end': (pem) => pem.trimEnd(),
  'lines of 76 characters': (pem) => {
    const [firstLine = '', ...lines] = pem.trimEnd().split('\n');
    const wrapped =
      lines
        .slice(0, -1)
        .join('')
        .match(/.{1,76}/g) ?? [];
    return [firstLine, ...wrapped, lines.at(-1), ''].join('\n');
  },
};

/** Sends a signed request with the input's value in its field, or with the input as its body. */
async function sendInput(
  device: SuiteDevice,
  { field, value, raw }: InputBody,
): Promise<HttpResponse> {
  const changes = field === '' ? { text: raw ?? '' } : { members: { [field]: value } };
  const response = await device.authenticate(changes);
  if (response.status === 200) expectUnderstood(response);
  return response;
}

const boundaries = defineScenario({
  area: 'authentication',
  name: 'The fields of a request',
  start: 'a new device that signs what it sends',
  effect: 'write',
  arrange: unknownDevice,
  cases: [
    ...inputCases<SuiteDevice>(authRequestInputs, {
      body: textualRequest,
      send: sendInput,
      // A server may refuse the content of the request, so 401 and 403 are accepted too.
      accepted: [200, 401, 403],
    }),
    {
      id: 'optional-fields-may-be-absent',
      title: 'A request with only id_data and pubkey is complete: it is not answered with 400.',
      requirements: ['auth.optional-fields'],
      run: async (device) => expectUnderstood(await device.authenticate()),
    },
    {
      id: 'null-tenant-token',
      title: 'How a request with an empty tenant_token, or with null fields, is answered.',
      requirements: ['auth.tenant-token-null'],
      observe: async (device) => {
        const one = await device.authenticate({ members: { tenant_token: null } });
        const other = await device.authenticate({ members: { external_id: null } });
        const { status } = await device.authenticate({ members: { tenant_token: '' } });
        const observation = `tenant_token null: ${one.status}, empty: ${status}`;
        return observationOf(`${observation}; external_id null: ${other.status}`);
      },
    },
    {
      id: 'other-curve',
      title: 'A key on the curve P-384, which the contract does not name, may be refused.',
      requirements: ['auth.other-curves'],
      observe: async (device) =>
        observedResponse(await device.authenticate({ members: { pubkey: keyOnAnotherCurve } })),
    },
    {
      id: 'short-rsa-key',
      title: 'How a request with an RSA key of 1024 bits is answered.',
      requirements: ['auth.rsa-sizes'],
      observe: async (device) =>
        observedResponse(await device.authenticate({ members: { pubkey: shortRsaKey } })),
    },
    {
      id: 'key-as-pkcs1',
      title: 'How a request with an RSA key in a PEM block RSA PUBLIC KEY is answered.',
      requirements: ['auth.other-key-forms'],
      observe: async (device, context) => {
        const signedBy = await context.newKey('rsa');
        const key = createPublicKey(signedBy.publicKeyPem);
        const pubkey = key.export({ type: 'pkcs1', format: 'pem' }).toString();
        return observedResponse(await device.authenticate({ members: { pubkey }, signedBy }));
      },
    },
  ],
});

/** Identity members, as vendors choose them. */
const vendorMembers: Readonly<Record<string, unknown>> = {
  mac: ['02:00:00:00:00:01', '02:00:00:00:00:02'],
  'Gerätename & <Ort>': 'Tür 3, 台北',
  position: { rack: 4, slot: null, spare: false, weight: 1.5 },
  '': 'a member without a name',
};

const identities = defineScenario({
  area: 'authentication',
  name: 'Identities',
  start: 'a new device whose identity has members of many types',
  effect: 'write',
  arrange: (context) => context.newDevice('ecdsa', vendorMembers),
  cases: [
    {
      id: 'identity-is-free',
      title: 'Arrays, objects, numbers and any letters in id_data do not make a request malformed.',
      requirements: ['auth.identity-is-free'],
      run: async (device) => expectUnderstood(await device.authenticate()),
    },
    {
      id: 'identity-of-every-form-is-recorded',
      title:
        'A user finds arrays, objects, numbers and any letters of an identity as they were sent.',
      requirements: ['auth.first-contact-is-recorded'],
      needs: ['user'],
      run: async (device, context) => {
        await device.authenticate();
        const shownDevice = await context.eventually(
          () => context.admin.findDevice(device.identity),
          (each) => each !== undefined,
        );
        const { identity_data: identity } = expectPresent('a device of this identity', shownDevice);
        expectEqual('identity data', identity, device.identity);
      },
    },
    {
      id: 'long-identity',
      title: 'How long an identity may be: 4096 bytes, 4097 and 60,000.',
      requirements: ['auth.long-identities'],
      observe: async (device) => {
        const observations: string[] = [];
        for (const bytes of [4096, 4097, 60_000]) {
          const bare = JSON.stringify({ ...device.identity, note: '' });
          const note = 'x'.repeat(bytes - Buffer.byteLength(bare));
          const id_data = JSON.stringify({ ...device.identity, note });
          const { status } = await device.authenticate({ members: { id_data } });
          observations.push(`${bytes} bytes: ${status}`);
        }
        return observationOf(observations.join(', '));
      },
    },
  ],
});

/** A server may keep such identities in a form that its lists cannot show. */
const unfitIdentities = defineScenario({
  area: 'authentication',
  name: 'Unfit identities',
  start: 'a new device',
  effect: 'write',
  order: 'last',
  arrange: (context) => context.newDevice(),
  cases: [
    {
      id: 'identity-that-is-no-object',
      title: 'How a request whose id_data is JSON text, but not of an object, is answered.',
      requirements: ['auth.unfit-identities'],
      observe: async (device) => {
        const observations: string[] = [];
        for (const text of ['[]', '["serial"]', 'null', '"serial"', '7', 'true']) {
          const { status } = await device.authenticate({ members: { id_data: text } });
          observations.push(`${text}: ${status}`);
        }
        return observationOf(observations.join(', '));
      },
    },
    {
      id: 'deep-identity',
      title: 'How a request whose id_data is nested forty levels deep is answered.',
      requirements: ['auth.unfit-identities'],
      observe: async (device) => {
        const deep = `${'['.repeat(40)}${']'.repeat(40)}`;
        const id_data = `{"serial":"${device.identity.serial}","deep":${deep}}`;
        return observedResponse(await device.authenticate({ members: { id_data } }));
      },
    },
    {
      id: 'identity-with-a-huge-number',
      title: 'How a request whose id_data has a number beyond the range of a double is answered.',
      requirements: ['auth.unfit-identities'],
      observe: async (device) => {
        const id_data = `{"serial":"${device.identity.serial}","number":1e999}`;
        return observedResponse(await device.authenticate({ members: { id_data } }));
      },
    },
  ],
});

/** Objects within an identity, whose members have an order too. */
const nestedMembers = { place: { rack: 4, row: 7, board: { slot: 'b', revision: 'a' } } };

/** Returns the object with its members in reverse order, also within. */
function turnedMembers(object: object): object {
  const turned = Object.entries(object).map(([name, value]) => [
    name,
    isMap(value) ? turnedMembers(value) : value,
  ]);
  return Object.fromEntries(turned.reverse());
}

const sameDeviceCases = defineScenario({
  area: 'authentication',
  name: 'One device, written differently',
  start: 'an accepted device with a token',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context, 'ecdsa', nestedMembers),
  cases: [
    {
      id: 'unknown-fields-are-ignored',
      title: 'A field that the server does not know, such as the newer `tier`, is ignored.',
      requirements: ['auth.unknown-fields'],
      run: (device) => {
        const fields = {
          'a string': 'standard',
          'an array': [1, 2],
          'an object': { a: {} },
          null: null,
        };
        return expectEach(200, fields, (tier) => device.authenticate({ members: { tier } }));
      },
    },
    {
      id: 'member-order-does-not-matter',
      title:
        'The same identity with other white space and member order, also within, is the same device.',
      requirements: ['auth.identity-is-the-content'],
      run: (device) => {
        const turned = turnedMembers(device.identity);
        const texts = {
          'another order': JSON.stringify(turned),
          'another order within': JSON.stringify({
            ...device.identity,
            place: turnedMembers(nestedMembers.place),
          }),
          'white space': JSON.stringify(device.identity, null, 2),
          'escaped letters': JSON.stringify(turned).replaceAll('s', '\\u0073'),
        };
        return expectEach(200, texts, (id_data) => device.authenticate({ members: { id_data } }));
      },
    },
    {
      id: 'pre-authorized-key-in-another-form-is-the-same-key',
      title: 'A device is recognized by a key that a user pre-authorized with other line ends.',
      requirements: ['auth.preauthorized-gets-token', 'auth.same-key'],
      run: async (_, context) => {
        const device = await context.newDevice();
        const publicKeyPem = device.key.publicKeyPem.trimEnd().replaceAll('\n', '\r\n');
        device.known = true;
        device.id = await context.admin.preauthorize(device.identity, {
          ...device.key,
          publicKeyPem,
        });
        expectStatus(await device.authenticate(), 200);
      },
    },
    {
      id: 'pem-form-does-not-matter',
      title: 'The same key with other line ends or line lengths is the same key.',
      requirements: ['auth.same-key'],
      run: (device) =>
        expectEach(200, keyTexts, (write) =>
          device.authenticate({ members: { pubkey: write(device.key.publicKeyPem) } }),
        ),
    },
  ],
});

export const authenticationRequestCases = [
  ...boundaries,
  ...identities,
  ...unfitIdentities,
  ...sameDeviceCases,
];
