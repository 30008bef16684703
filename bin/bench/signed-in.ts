/** Devices for a benchmark: signed in over HTTP through the API, like real ones. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';

/** Concurrent sign-ins. */
const LANES = 16;

/** A device that the server knows. */
export interface KnownDevice {
  readonly token: string;
  /** With which it signed in; they may be sent again. */
  readonly authRequest: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  /** SubjectPublicKeyInfo of its Ed25519 key, as PEM. */
  readonly publicKeyPem: string;
}

interface Server {
  readonly baseUrl: string;
  readonly headerPrefix: string;
}

/**
 * Makes `count` new devices known to a server.
 * @param server one that accepts each device right after its first request
 * @throws Error when the server does not accept one
 */
export async function knownDevices(server: Server, count: number): Promise<KnownDevice[]> {
  const devices: KnownDevice[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      devices[index] = await signIn(server, index);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return devices;
}

/** The tokens of `count` new devices; see `knownDevices`. */
export async function signInDevices(server: Server, count: number): Promise<string[]> {
  return (await knownDevices(server, count)).map(({ token }) => token);
}

async function signIn({ baseUrl, headerPrefix }: Server, index: number): Promise<KnownDevice> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pubkey = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const body = JSON.stringify({ id_data: JSON.stringify({ serial: `bench-${index}` }), pubkey });
  const signature = sign(null, Buffer.from(body), privateKey).toString('base64');
  const headers = {
    'Content-Type': 'application/json',
    [vendorNames(headerPrefix).signature]: signature,
  };
  const { method, path } = operations['post-auth-request'];
  const ask = () => fetch(baseUrl + pathOf({ path }), { method, headers, body });
  const refused = await ask();
  await refused.text();
  const answer = await ask();
  const text = await answer.text();
  if (answer.status === 200) {
    return { token: text, authRequest: { headers, body }, publicKeyPem: pubkey };
  }
  throw new Error(`the server answered ${refused.status}, then ${answer.status}: ${text}`);
}
