/**
 * Cases: the signature of an authentication request. Each key signs with two implementations that
 * share no code, so that a bug in one is not taken for an error of the server. Spec: Device
 * authentication
 */
import { type KeyType, keyTypes } from '../../../fixtures/contract/vocabulary.ts';
import { requireToken } from '../../context/granted.ts';
import { acceptedDevice, preauthorizedDevice, unknownDevice } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import { signingAlgorithms } from '../../signing/algorithms.ts';
import { distinguishesTexts, wrongTexts } from '../../signing/header-text.ts';
import { makeRsaKeyOf, readRsaKeyOf4096 } from '../../signing/rsa.ts';
import type { Sign, SigningKey } from '../../signing/signing-key.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  expectEach,
  expectStatus,
  expectThat,
  observationOf,
  responseSummary,
} from '../../target/expectations.ts';

/** Statuses of a refused request: the refusals of the operation. */
const refusals = [400, 401, 403];
/** Bodies tried until one has a signature that differs between the Base64 alphabets. */
const BODIES_MAX = 50;

/** Authentication requests with the same meaning but different bytes. */
const bodyTexts: Readonly<Record<string, (text: string) => string>> = {
  'a line end after it': (text) => `${text}\n`,
  'a Windows line end after it': (text) => `${text}\r\n`,
  'white space around it': (text) => ` \t${text}  `,
  'white space within it': (text) => JSON.stringify(JSON.parse(text), null, 2),
  'twenty kilobytes of white space within it': (text) => `{${' '.repeat(20_000)}${text.slice(1)}`,
  'its fields in another order': (text) => {
    const fields: object = JSON.parse(text);
    return JSON.stringify(Object.fromEntries(Object.entries(fields).reverse()));
  },
  'an external_id first': (text) =>
    JSON.stringify({ external_id: 'vehicle-7', ...JSON.parse(text) }),
  'an external_id last': (text) =>
    JSON.stringify({ ...JSON.parse(text), external_id: 'vehicle-7' }),
  'a letter as an escape': (text) => text.replace('BEGIN', '\\u0042EGIN'),
};

/** Bodies with the same meaning as the signed one but different bytes. */
const otherBodies: Readonly<Record<string, (text: string) => string>> = {
  ...bodyTexts,
  'one letter changed': (text) => text.replace('conformance', 'Conformance'),
  nothing: () => '',
  'the identity alone': (text) => String(JSON.parse(text).id_data),
};

function sendSigned(device: SuiteDevice, sign: Sign) {
  const text = device.authRequest();
  return device.authenticate({ text, signature: sign(Buffer.from(text)).toString('base64') });
}

/** Returns a body whose signature differs between the two Base64 alphabets. */
function requestWithAlterableSignature(device: SuiteDevice): { text: string; signature: Buffer } {
  for (let spaces = 0; spaces < BODIES_MAX; spaces++) {
    const text = `${device.authRequest()}${' '.repeat(spaces)}`;
    const signature = device.key.sign(Buffer.from(text));
    if (distinguishesTexts(signature)) return { text, signature };
  }
  throw new Error('no signature differs between the alphabets of Base64');
}

const header = defineScenario({
  area: 'authentication',
  name: 'The signature header',
  start: 'a new device that sends a valid request',
  effect: 'write',
  arrange: unknownDevice,
  cases: [
    {
      id: 'missing-signature-is-400',
      title: 'A request without the signature header is answered with 400.',
      requirements: ['auth.signature-header-is-required', 'service.authentication'],
      covers: ['post-auth-request 400'],
      run: async (device) => expectStatus(await device.authenticate({ signature: null }), 400),
    },
    {
      id: 'empty-signature',
      title: 'An empty signature header may count as missing or as wrong.',
      requirements: ['auth.empty-signature-header'],
      observe: async (device) => {
        const emptyResponse = await device.authenticate({ signature: '' });
        const blankResponse = await device.authenticate({ signature: '  ' });
        return observationOf(`empty: ${emptyResponse.status}; two spaces: ${blankResponse.status}`);
      },
    },
  ],
});

const signedBytesCases = defineScenario({
  area: 'authentication',
  name: 'What is signed',
  start: 'an accepted device that authenticates again',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'body-is-signed-as-sent',
      title: 'White space, line ends, order, escapes and letters of the body are signed as sent.',
      requirements: ['auth.body-is-what-is-signed'],
      run: (device) =>
        expectEach(200, bodyTexts, (write) =>
          device.authenticate({ text: write(device.authRequest()) }),
        ),
    },
    {
      id: 'signature-over-another-body-is-refused',
      title: 'A signature over bytes other than those sent is refused.',
      requirements: ['auth.body-is-what-is-signed', 'auth.signature-must-verify'],
      run: (device) =>
        expectEach(refusals, otherBodies, (write) =>
          device.authenticate({ signedText: write(device.authRequest()) }),
        ),
    },
    {
      id: 'signature-by-another-key-is-refused',
      title: 'A signature by a key other than the one in the request is refused.',
      requirements: ['auth.signature-must-verify'],
      run: (device, context) =>
        expectEach(
          refusals,
          { rsa: 'rsa', ecdsa: 'ecdsa', ed25519: 'ed25519' } as const,
          async (type) => device.authenticate({ signedBy: await context.newKey(type) }),
        ),
    },
    {
      id: 'no-signature-at-all-is-refused',
      title: 'A header with zeros, one byte or four thousand letters is refused as a signature.',
      requirements: ['auth.signature-must-verify'],
      run: (device) => {
        const zeros = Buffer.from('3006020100020100', 'hex').toString('base64');
        const texts = {
          'one byte': 'AA==',
          'R and S that are zero': zeros,
          '64 zeros': Buffer.alloc(64).toString('base64'),
          '4000 letters': 'A'.repeat(4000),
          'a word': 'signature',
        };
        return expectEach(refusals, texts, (signature) => device.authenticate({ signature }));
      },
    },
    {
      id: 'wrong-signature-is-401',
      title: 'A well-formed signature that does not verify is answered with 401.',
      requirements: ['auth.bad-signature-is-401'],
      run: async (device, context) =>
        expectStatus(await device.authenticate({ signedBy: await context.newKey() }), 401),
    },
  ],
});

const nonAscii = defineScenario({
  area: 'authentication',
  name: 'Non-ASCII letters',
  start: 'a pre-authorized device with an identity in several scripts',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => preauthorizedDevice(context, 'ecdsa', { place: 'Tür 3, 台北 \u{1f4a1}' }),
  cases: [
    {
      id: 'non-ascii-is-signed-as-utf-8',
      title: 'Non-ASCII letters are signed as the UTF-8 that is sent, or as their escapes.',
      requirements: ['auth.body-is-what-is-signed'],
      run: async (device) => {
        const escaped = device.authRequest().replace(/[^\0-\x7f]/g, escapeOf);
        requireToken(await device.authenticate({ text: escaped }));
        expectStatus(await device.authenticate(), 200);
      },
    },
  ],
});

/** Returns a code unit as a JSON escape. */
function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Titles for each algorithm, in the contract's three columns. */
const algorithmTitles: Readonly<Record<KeyType, readonly [string, string, string]>> = {
  rsa: [
    'An RSA key signs the SHA-256 of the body by PKCS #1 version 1.5; two libraries agree.',
    'An RSA signature over SHA-1, SHA-384, SHA-512 or a digest of the digest is refused.',
    'An RSA signature with PSS padding, or over the bare digest, is refused.',
  ],
  ecdsa: [
    'A P-256 key signs the SHA-256 of the body; R and S go in an ASN.1 sequence.',
    'A P-256 signature over SHA-1, SHA-384, SHA-512 or a digest of the digest is refused.',
    'A P-256 signature as 64 bare bytes, or with S before R, is refused.',
  ],
  ed25519: [
    'An Ed25519 key signs the body itself, not a digest; two libraries agree.',
    'An Ed25519 signature over a digest of the body is refused.',
    'An Ed25519 signature followed by the body is refused.',
  ],
};

/** The requirements of these columns. */
const algorithmRequirements = {
  rsa: ['auth.rsa', 'auth.rsa-digest', 'auth.rsa-standard'],
  ecdsa: ['auth.ecdsa', 'auth.ecdsa-digest', 'auth.ecdsa-sequence'],
  ed25519: ['auth.ed25519', 'auth.ed25519-no-digest', 'auth.ed25519-standard'],
} as const;

const keyNames: Readonly<Record<KeyType, string>> = {
  rsa: 'an RSA key',
  ecdsa: 'a P-256 key',
  ed25519: 'an Ed25519 key',
};

function algorithmCases(keyType: KeyType): readonly JudgingCase<SuiteDevice>[] {
  const [right, digest, form] = algorithmTitles[keyType];
  const [rightRequirement, digestRequirement, formRequirement] = algorithmRequirements[keyType];
  const refuseSignatures = (signatures: Readonly<Record<string, Sign>>, device: SuiteDevice) =>
    expectEach(refusals, signatures, (sign) => sendSigned(device, sign));
  return [
    {
      id: `${keyType}-signature-is-accepted`,
      title: right,
      requirements: [rightRequirement],
      run: (device) => expectEach(200, device.key.signers, (sign) => sendSigned(device, sign)),
    },
    {
      id: `${keyType}-signature-over-another-digest-is-refused`,
      title: digest,
      requirements: [digestRequirement],
      run: (device) => refuseSignatures(device.key.invalidSignatures.digest, device),
    },
    {
      id: `${keyType}-signature-in-another-form-is-refused`,
      title: form,
      requirements: [formRequirement],
      run: (device) => refuseSignatures(device.key.invalidSignatures.encoding, device),
    },
    {
      id: `${keyType}-signature-that-is-no-base64-is-refused`,
      title: `The signature of ${keyNames[keyType]} in hexadecimal, cut off or in another Base64 is refused.`,
      requirements: [`auth.${keyType}-base64`],
      run: (device) => {
        const { text, signature } = requestWithAlterableSignature(device);
        return expectEach(refusals, wrongTexts, (textOf) =>
          device.authenticate({ text, signature: textOf(signature) }),
        );
      },
    },
  ];
}

function algorithmScenario(keyType: KeyType) {
  return defineScenario({
    area: 'authentication',
    name: `Signatures by ${signingAlgorithms[keyType].standard}`,
    start: `a pre-authorized device with ${keyNames[keyType]}`,
    effect: 'write',
    needs: ['user'],
    arrange: (context) => preauthorizedDevice(context, keyType),
    cases: algorithmCases(keyType),
  });
}

/** Length of most signatures by a P-256 key in DER; less means that R or S has a leading zero. */
const DER_USUAL_MIN_BYTES = 70;
const SIGNATURES_MAX = 20_000;

/**
 * Returns signatures of the text, the shortest kinds of which are rare, by their length in bytes.
 */
function signaturesByLength(device: SuiteDevice, text: string): Readonly<Record<string, string>> {
  const statusById = new Map<number, string>();
  // One in 128 has a short R, and one in 128 a short S.
  for (let tries = 0; tries < SIGNATURES_MAX; tries += 1) {
    const signature = device.key.sign(Buffer.from(text));
    statusById.set(signature.length, signature.toString('base64'));
    if (Math.min(...statusById.keys()) < DER_USUAL_MIN_BYTES && statusById.size > 3) break;
  }
  return Object.fromEntries([...statusById].map(([bytes, base64]) => [`${bytes} bytes`, base64]));
}

/** Keys in the field besides those of 2048 bits; its clients make keys of 3072 bits by default. */
const fieldRsaKeys = {
  3072: async () => quickly(await makeRsaKeyOf(3072)),
  4096: async () => quickly(await readRsaKeyOf4096()),
} as const;

/**
 * Returns the key with the quick one of its signers, for long keys, which take a second otherwise.
 */
function quickly(key: SigningKey): SigningKey {
  return { ...key, sign: key.signers['node:crypto'] ?? key.sign };
}

const lengths = defineScenario<void>({
  area: 'authentication',
  name: 'Keys and signatures of other lengths',
  start: 'devices of the case, which a user has pre-authorized',
  effect: 'write',
  needs: ['user'],
  arrange: () => undefined,
  cases: [
    {
      id: 'ecdsa-signatures-of-every-length',
      title: 'Signatures by a P-256 key are accepted whatever the length of R and S.',
      requirements: ['auth.ecdsa', 'auth.ecdsa-sequence'],
      run: async (_, context) => {
        const device = await preauthorizedDevice(context, 'ecdsa');
        const text = device.authRequest();
        await expectEach(200, signaturesByLength(device, text), (signature) =>
          device.authenticate({ text, signature }),
        );
      },
    },
    ...Object.entries(fieldRsaKeys).map(
      ([bits, makeKey]): JudgingCase<void> => ({
        id: `rsa-key-of-${bits}-bits`,
        title: `A device with an RSA key of ${bits} bits is granted a token.`,
        requirements: ['auth.rsa'],
        run: async (_, context) => {
          const device = await context.newDevice('rsa');
          const key = await makeKey();
          device.known = true;
          device.id = await context.admin.preauthorize(device.identity, key);
          const members = { pubkey: key.publicKeyPem };
          expectStatus(await device.authenticate({ members, signedBy: key }), 200);
        },
      }),
    ),
    {
      id: 'long-rsa-key-is-recognized',
      title:
        'A first contact with an RSA key of 4096 bits gets 400 only if one with 2048 bits does.',
      requirements: ['auth.rsa'],
      run: async (_, context) => {
        const usual = await context.newDevice('rsa');
        const { status } = await usual.authenticate();
        const device = await context.newDevice('rsa');
        const key = await fieldRsaKeys[4096]();
        const members = { pubkey: key.publicKeyPem };
        const response = await device.authenticate({ members, signedBy: key });
        const isRecognized = response.status !== 400 || status === 400;
        expectThat(isRecognized, `${status}, as with 2048 bits`, responseSummary(response));
      },
    },
  ],
});

export const authenticationSignatureCases = [
  ...lengths,
  ...header,
  ...signedBytesCases,
  ...nonAscii,
  ...keyTypes.flatMap(algorithmScenario),
];
