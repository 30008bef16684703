/** Devices for a benchmark: signed in over HTTP through the API, like real ones. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';

/** Concurrent sign-ins. */
const LANES = 16;

/**
 * Returns the tokens of `count` new devices.
 * @param server one that accepts each device right after its first request
 * @throws Error when the server does not accept one
 */
export async function signInDevices(
  server: { readonly baseUrl: string; readonly headerPrefix: string },
  count: number,
): Promise<string[]> {
  const tokens: string[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      tokens[index] = await signIn(server, index);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return tokens;
}

async function signIn(
  { baseUrl, headerPrefix }: { readonly baseUrl: string; readonly headerPrefix: string },
  index: number,
): Promise<string> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pubkey = publicKey.export({ type: 'spki', format: 'pem' });
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
  if (answer.status === 200) return text;
  throw new Error(`the server answered ${refused.status}, then ${answer.status}: ${text}`);
}
