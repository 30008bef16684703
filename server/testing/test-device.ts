/** A device of a test: a key, an identity, and the calls that get it accepted. */
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { Device } from '../../fixtures/contract/management/devices.ts';
import type { KeyType } from '../../fixtures/contract/vocabulary.ts';
import type { TestCall, TestResponse, TestServer } from './test-server.ts';

export interface TestDevice {
  readonly privateKey: KeyObject;
  readonly publicKeyPem: string;
  readonly idData: string;
}

/** A device that is accepted and holds a token. */
export interface AcceptedDevice extends TestDevice {
  readonly id: string;
  readonly authSetId: string;
  readonly token: string;
}

/** Parts of an authentication request that a test replaces. */
export interface AuthOverrides extends TestCall {
  /** The replaced body, which is signed unchanged. */
  readonly body?: string;
  /** The replaced signature; null omits the header. */
  readonly signature?: string | null;
}

const makeKey: Record<KeyType, () => KeyObject> = {
  rsa: () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  ecdsa: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  ed25519: () => generateKeyPairSync('ed25519').privateKey,
};

/** Creates a device; its identity is the text of `{"mac": name}`. */
export function newDevice(name: string, keyType: KeyType = 'ed25519'): TestDevice {
  const privateKey = makeKey[keyType]();
  return { privateKey, publicKeyPem: pemOf(privateKey), idData: JSON.stringify({ mac: name }) };
}

/** Returns the public half as SubjectPublicKeyInfo in PEM. */
export function pemOf(privateKey: KeyObject): string {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
}

/** Signs as the contract requires for the key's type, in base64. */
export function signatureOf(body: string | Buffer, privateKey: KeyObject): string {
  const digest = privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  return sign(digest, Buffer.from(body), privateKey).toString('base64');
}

/** Sends an authentication request of the device. */
export function authenticate(
  server: TestServer,
  device: TestDevice,
  overrides: AuthOverrides = {},
): Promise<TestResponse> {
  const body =
    overrides.body ?? JSON.stringify({ id_data: device.idData, pubkey: device.publicKeyPem });
  const signature =
    overrides.signature === undefined ? signatureOf(body, device.privateKey) : overrides.signature;
  const headers = {
    'Content-Type': 'application/json',
    ...(signature !== null && { [`${server.headerPrefix}-Signature`]: signature }),
    ...overrides.headers,
  };
  return server.call('post-auth-request', { headers, body });
}

/** Creates an accepted device: first contact, accepted by the user, token fetched. */
export async function acceptedDevice(
  server: TestServer,
  name: string,
  keyType?: KeyType,
): Promise<AcceptedDevice> {
  const device = newDevice(name, keyType);
  await authenticate(server, device);
  const { id, authSetId } = await acceptBy(server, name);
  const { text: token } = await authenticate(server, device);
  return { ...device, id, authSetId, token };
}

/** Accepts the device whose identity is `{"mac": name}`. */
async function acceptBy(server: TestServer, name: string) {
  const devices = await knownDevices(server, { status: 'pending' });
  const device = devices.find(({ identity_data: data }) => data.mac === name);
  const authSetId = device?.auth_sets[0]?.id;
  if (!device || authSetId === undefined) throw new Error(`no pending device of the name ${name}`);
  await decide(server, { id: device.id, authSetId }, 'accepted');
  return { id: device.id, authSetId };
}

/** Returns all devices as users see them, or those that a query selects. */
export async function knownDevices(
  server: TestServer,
  query: Readonly<Record<string, string>> = {},
): Promise<Device[]> {
  const call = { token: server.adminToken, query: { per_page: '500', ...query } };
  return (await server.call('list-devices', call)).json<Device[]>();
}

/** Sets the status of a device's authentication set, as a user. */
export function decide(
  server: TestServer,
  { id, authSetId }: Pick<AcceptedDevice, 'id' | 'authSetId'>,
  status: string,
): Promise<TestResponse> {
  const parameters = { id, aid: authSetId };
  const call = { token: server.adminToken, parameters, json: { status } };
  return server.call('set-auth-set-status', call);
}
