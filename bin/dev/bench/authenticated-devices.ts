/** Creates devices for a benchmark that authenticate over HTTP like real ones. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { vendorNames } from '../../../fixtures/contract/vendor-names.ts';
import { exchange } from './exchange.ts';

/** Number of devices that authenticate at the same time. */
const CONCURRENT = 16;

/** A device with its signed authentication request. */
export interface NewDevice {
  /** The signed authentication request; it can be sent repeatedly. */
  readonly authRequest: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  /** Public key of the device: SubjectPublicKeyInfo with an Ed25519 key, as PEM. */
  readonly publicKeyPem: string;
}

/** A device that the server knows. */
export interface AuthenticatedDevice extends NewDevice {
  readonly token: string;
}

interface Server {
  readonly baseUrl: string;
  readonly headerPrefix: string;
}

/**
 * Authenticates `count` new devices at a server.
 * @param server a server that accepts each device right after its first request
 * @param first index of the first device; the server must not know this or any later index
 * @throws Error when the server does not accept a device
 */
export async function knownDevices(
  server: Server,
  count: number,
  first = 0,
): Promise<AuthenticatedDevice[]> {
  const devices: AuthenticatedDevice[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      devices[index] = await authenticateDevice(server, first + index);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, worker));
  return devices;
}

/** Authenticates `count` new devices, like `knownDevices`, and returns their tokens. */
export async function authenticateDevices(server: Server, count: number): Promise<string[]> {
  return (await knownDevices(server, count)).map(({ token }) => token);
}

/** Creates a device that no server knows. */
export function newDevice(headerPrefix: string, index: number): NewDevice {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const publicKeyPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const idData = JSON.stringify({ serial: `bench-${index}` });
  const body = JSON.stringify({ id_data: idData, pubkey: publicKeyPem });
  const signature = sign(null, Buffer.from(body), privateKey).toString('base64');
  const headers = {
    'Content-Type': 'application/json',
    [vendorNames(headerPrefix).signature]: signature,
  };
  return { authRequest: { headers, body }, publicKeyPem };
}

async function authenticateDevice(
  { baseUrl, headerPrefix }: Server,
  index: number,
): Promise<AuthenticatedDevice> {
  const device = newDevice(headerPrefix, index);
  const { method, path } = operations['post-auth-request'];
  const send = () => exchange(baseUrl, { method, path: pathOf({ path }), ...device.authRequest });
  const refusal = await send();
  const response = await send();
  if (response.status === 200) return { ...device, token: response.body };
  throw new Error(
    `the server answered with ${refusal.status}, then ${response.status}: ${response.body}`,
  );
}
