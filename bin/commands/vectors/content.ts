/**
 * The contents of a set of test vectors: what a device client signs, sends, receives and checks,
 * with wrong forms beside the right ones. Everything follows from the seed.
 * Spec: Device authentication; Device deployments v1, v2; Device connect; Artifact
 */
import { createHash, createPublicKey } from 'node:crypto';
import { type Random, seededRandom } from '../../../fixtures/base/random.ts';
import { encodeBody } from '../../../fixtures/formats/connect-bodies.ts';
import {
  type ConnectMessage,
  connectProtocols,
  encodeConnectMessage,
} from '../../../fixtures/formats/connect-message.ts';
import { writeArtifact } from '../../../fixtures/formats/mender-artifact-writer.ts';
import { createTokenIssuer, tokenAlgorithms, tokenKeyOf } from '../../../server/crypto/tokens.ts';
import { keysFrom, signatureOf, type VectorKey, wrongSignatures } from './signatures.ts';

/** A value of a vector: text in UTF-8, bytes, or an integer from 0 to 2^31 - 1. */
export type VectorValue = string | Uint8Array | number;

/** One vector: values by name in camel case. */
export type Vector = Readonly<Record<string, VectorValue>>;

/**
 * Vectors with the same fields. A field `cause` says why a row is invalid; it is empty when the row
 * is valid.
 */
export interface VectorGroup {
  /** Name in camel case, in the plural. */
  readonly name: string;
  /** One sentence about the vectors, for a comment. */
  readonly meaning: string;
  /** At least one. */
  readonly vectors: readonly Vector[];
}

/** A set of test vectors. */
export interface VectorSet {
  readonly seed: string;
  readonly groups: readonly VectorGroup[];
  /** Files for tools that take no arrays, such as openssl, by path within the folder. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const ISSUED_AT_SECONDS = Date.UTC(2027, 0, 1) / 1000;
const WEEK_SECONDS = 604_800;
const DEVICE_TYPE = 'example-board';

/** Returns the set that belongs to the seed. */
export async function vectorsFrom(seed: string): Promise<VectorSet> {
  const random = seededRandom(seed);
  const [keys, otherKeys, serverKeys] = [0, 1, 2].map((index) => keysFrom(random, index)) as [
    Keys,
    Keys,
    Keys,
  ];
  const requests = keys.flatMap((key) => authRequests(key, random));
  const artifacts = await artifactVectors(random);
  const groups: readonly VectorGroup[] = [
    {
      name: 'keys',
      meaning: 'Keys of two devices, PKCS #8 and SubjectPublicKeyInfo. For tests only.',
      vectors: [...keys.map(keyVector(0)), ...otherKeys.map(keyVector(1))],
    },
    {
      name: 'authRequests',
      meaning: 'Bodies of POST /auth_requests with the right value of the signature header.',
      vectors: requests,
    },
    {
      name: 'wrongSignatures',
      meaning: 'Bodies as sent, with a signature header that a server must refuse with 401.',
      vectors: wrongVectors(macOf(random), keys, otherKeys),
    },
    {
      name: 'tokens',
      meaning:
        'Bodies of the response 200 to POST /auth_requests, and the Authorization header for each.',
      vectors: tokenVectors(random, serverKeys),
    },
    {
      name: 'instructions',
      meaning:
        'Bodies of the response 200 to deployments/next; those whose `cause` is not empty must not be installed.',
      vectors: instructionVectors(random),
    },
    {
      name: 'messages',
      meaning: 'Binary frames on /connect; those whose `cause` is not empty are not messages.',
      vectors: [...messageVectors(), ...wrongMessageVectors()],
    },
    {
      name: 'artifacts',
      meaning:
        'Small .mender files; those whose `cause` is not empty must end in the status failure.',
      vectors: artifacts,
    },
    {
      name: 'manifest',
      meaning: 'The files that the manifest of the right artifact lists, with their SHA-256.',
      vectors: manifestVectors(artifacts),
    },
  ];
  return { seed, groups, files: filesOf(keys, requests, artifacts) };
}

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

type Keys = readonly VectorKey[];

const keyVector =
  (device: number) =>
  ({ keyType, privateKey, publicKeyPem }: VectorKey) => ({
    device,
    keyType,
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    privateKeyDer: privateKey.export({ type: 'pkcs8', format: 'der' }),
    publicKeyPem,
    publicKeyDer: createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
  });

const plainBody = (idData: object, pubkey: string): string =>
  JSON.stringify({ id_data: JSON.stringify(idData), pubkey });

/**
 * Texts of authentication requests that are easily signed wrongly, by a word for what is special.
 */
const bodiesOf: Readonly<Record<string, (idData: object, pubkey: string) => string>> = {
  plain: plainBody,
  'line-feed': (idData, pubkey) =>
    `${JSON.stringify({ id_data: JSON.stringify(idData), pubkey, tenant_token: 'tenant' })}\n`,
  'utf-8': (idData, pubkey) =>
    JSON.stringify(
      { pubkey, id_data: JSON.stringify({ ...idData, label: 'Pförtner №1' }) },
      null,
      1,
    ),
};

function authRequests(key: VectorKey, random: Random): readonly Vector[] {
  const idData = { mac: macOf(random) };
  return Object.entries(bodiesOf).map(([title, textOf]) => {
    const body = Buffer.from(textOf(idData, key.publicKeyPem));
    const signature = signatureOf(key, body);
    return {
      title,
      keyType: key.keyType,
      body,
      bodySha256: sha256(body),
      signature,
      header: signature.toString('base64'),
    };
  });
}

/** Returns a locally administered address, which no maker has assigned. */
function macOf(random: Random): string {
  const bytes = [Buffer.from([2]), random.stream('vectors/mac').bytes(5)];
  return (Buffer.concat(bytes).toString('hex').match(/../g) ?? []).join(':');
}

function wrongVectors(mac: string, keys: Keys, otherKeys: Keys): readonly Vector[] {
  return keys.flatMap((key, index) => {
    const body = Buffer.from(plainBody({ mac }, key.publicKeyPem));
    const otherKey = otherKeys[index] ?? key;
    return wrongSignatures({ key, otherKey, body }).map((wrong) => ({ ...wrong }));
  });
}

function tokenVectors(random: Random, keys: Keys): readonly Vector[] {
  return keys.flatMap(({ keyType, privateKey }) => {
    if (keyType === 'ecdsa') return [];
    const name = keyType === 'rsa' ? 'RS256' : 'EdDSA';
    const key = tokenKeyOf(tokenAlgorithms[name], privateKey);
    const claims = {
      kind: 'device',
      subject: random.stream('vectors/device').uuid(),
      id: random.stream('vectors/auth-set').uuid(),
      expiresAt: ISSUED_AT_SECONDS + WEEK_SECONDS,
    } as const;
    const token = createTokenIssuer(key).issue(claims, ISSUED_AT_SECONDS);
    const [head, payload, signature = ''] = token.split('.');
    const changedSignature = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    const headers = {
      '': `Bearer ${token}`,
      'in-quotes': `Bearer "${token}"`,
      'without-scheme': token,
      'cut-off': `Bearer ${token.slice(0, 64)}`,
      'other-signature': `Bearer ${head}.${payload}.${changedSignature}`,
    };
    return Object.entries(headers).map(([cause, authorization]) => ({
      cause,
      algorithm: name,
      body: Buffer.from(token),
      authorization,
    }));
  });
}

function instructionVectors(random: Random): readonly Vector[] {
  const id = random.stream('vectors/deployment').uuid();
  const expire = new Date((ISSUED_AT_SECONDS + WEEK_SECONDS) * 1000).toISOString();
  // Everything after the question mark belongs to the signature of the link, and stays as it is.
  const uri = `http://storage.example.com/releases/release%202.mender?expires=${ISSUED_AT_SECONDS}&signature=a%2Bb%2Fc%3D`;
  const artifact = {
    artifact_name: 'release-2',
    source: { uri, expire },
    device_types_compatible: [DEVICE_TYPE],
  };
  const withId = { id: random.stream('vectors/artifact').uuid(), ...artifact };
  const map = { id, priority: 0, states: { ArtifactInstall_Enter: { action: 'pause' } } };
  const bodies: readonly (readonly [cause: string, version: number, body: object])[] = [
    ['', 1, { id, artifact: withId }],
    ['', 2, { id, artifact }],
    ['', 2, { artifact: { ...artifact, update_control_map: map }, later: [null, 1], id }],
    ['no-uri', 1, { id, artifact: { ...withId, source: { expire } } }],
    ['no-artifact', 2, { id }],
    ['no-id', 2, { artifact }],
    ['other-device-type', 2, { id, artifact: { ...artifact, device_types_compatible: ['other'] } }],
    ['types-not-a-list', 2, { id, artifact: { ...artifact, device_types_compatible: 'other' } }],
  ];
  const vectors = bodies.map(([cause, version, body]) => {
    const fields = { deploymentId: id, artifactName: 'release-2', uri, expire };
    return { cause, version, body: Buffer.from(JSON.stringify(body)), ...fields };
  });
  return vectors.concat(
    vectors.slice(0, 1).map((right) => ({
      ...right,
      cause: 'cut-off',
      body: right.body.subarray(0, right.body.length / 2),
    })),
  );
}

const { shell, fileTransfer, control, menderClient } = connectProtocols;

/** Messages of a short session, in both directions. */
const messages: readonly ConnectMessage[] = [
  { proto: control, typ: 'open', sid: 'session', body: encodeBody({ versions: [1] }) },
  {
    proto: control,
    typ: 'accept',
    sid: 'session',
    body: encodeBody({ version: 1, protocols: [1] }),
  },
  { proto: control, typ: 'ping', sid: 'session', props: { timeout: 60 } },
  { proto: shell, typ: 'new', sid: 'session', props: { terminal_height: 24, terminal_width: 80 } },
  { proto: shell, typ: 'shell', sid: 'session', body: Buffer.from('uname -a\n') },
  {
    proto: fileTransfer,
    typ: 'stat',
    sid: 'session',
    body: encodeBody({ path: '/etc/os-release' }),
  },
  {
    proto: fileTransfer,
    typ: 'file_chunk',
    sid: 'session',
    props: { offset: 0 },
    body: Buffer.alloc(300, 7),
  },
  {
    proto: shell,
    typ: 'error',
    sid: 'session',
    body: encodeBody({ err: 'no shell', close: true }),
  },
  { proto: menderClient, typ: 'check-update' },
];

function messageVectors(): readonly Vector[] {
  return messages.map((message) => ({
    cause: '',
    frame: encodeConnectMessage(message),
    proto: message.proto,
    typ: message.typ ?? '',
    sid: message.sid ?? '',
    body: message.body ?? Buffer.alloc(0),
  }));
}

function wrongMessageVectors(): readonly Vector[] {
  const right = encodeConnectMessage({ proto: shell, typ: 'shell', body: Buffer.from('ls\n') });
  const frames = {
    empty: Buffer.alloc(0),
    'json-text': Buffer.from('{"hdr":{"proto":1}}'),
    'no-header': encodeBody({ body: 'ls' }),
    'no-protocol': encodeBody({ hdr: { typ: 'shell' } }),
    'protocol-as-text': encodeBody({ hdr: { proto: '1' } }),
    'cut-off': right.subarray(0, right.length - 2),
    'bytes-behind': Buffer.concat([right, Buffer.from([0])]),
  };
  const fields = { proto: 0, typ: '', sid: '', body: Buffer.alloc(0) };
  return Object.entries(frames).map(([cause, frame]) => ({ cause, frame, ...fields }));
}

async function artifactVectors(random: Random): Promise<readonly ArtifactVector[]> {
  const content = random.stream('vectors/payload').bytes(1024);
  // Without compression, the bytes do not depend on a release of zlib.
  const right = await writeArtifact({
    name: 'release-2',
    deviceTypes: [DEVICE_TYPE],
    payloadType: 'single-file',
    files: [{ name: 'app.bin', content }],
    provides: { 'rootfs-image.single-file.version': 'release-2' },
    clearsProvides: ['rootfs-image.single-file.*'],
    modifiedMs: ISSUED_AT_SECONDS * 1000,
    compression: 'none',
  });
  const changedArtifact = Buffer.from(right);
  const at = right.indexOf(content);
  changedArtifact.writeUInt8(changedArtifact.readUInt8(at) ^ 1, at);
  const files = {
    '': right,
    'payload-changed': changedArtifact,
    'manifest-changed': replaceText(right, sha256(content).toString('hex'), '0'.repeat(64)),
    'format-unknown': replaceText(right, '"version":3', '"version":9'),
    'cut-off': right.subarray(0, at + 512),
  };
  return Object.entries(files).map(([cause, file]) => ({
    cause,
    artifactName: 'release-2',
    deviceType: DEVICE_TYPE,
    file,
    fileSha256: sha256(file),
  }));
}

interface ArtifactVector extends Vector {
  readonly file: Buffer;
}

function replaceText(file: Buffer, from: string, to: string): Buffer {
  return Buffer.from(file.toString('latin1').replace(from, to), 'latin1');
}

function manifestVectors(artifacts: readonly ArtifactVector[]): readonly Vector[] {
  const text = artifacts[0]?.file.toString('latin1') ?? '';
  return Array.from(text.matchAll(/([\da-f]{64}) {2}(\S+)\n/g), ([, digest = '', name = '']) => ({
    name,
    sha256: Buffer.from(digest, 'hex'),
  }));
}

function filesOf(
  keys: Keys,
  requests: readonly Vector[],
  artifacts: readonly ArtifactVector[],
): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const add = (name: string, value: VectorValue = ''): void => {
    files.set(name, typeof value === 'object' ? value : Buffer.from(String(value)));
  };
  for (const { keyType, privateKeyPem, publicKeyPem } of keys.map(keyVector(0))) {
    add(`${keyType}-private.pem`, privateKeyPem);
    add(`${keyType}-public.pem`, publicKeyPem);
  }
  for (const { title, keyType, body, signature, header } of requests) {
    add(`${keyType}-${title}-body.json`, body);
    add(`${keyType}-${title}-signature.bin`, signature);
    add(`${keyType}-${title}-signature.txt`, header);
  }
  for (const { cause, file } of artifacts) add(`${cause || 'release-2'}.mender`, file);
  return files;
}
