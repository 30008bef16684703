/**
 * Measures the least cost of an authentication request: `node:crypto` repeatedly verifies a
 * signature with a loaded key and signs a token. The argument is an `AuthCost` as JSON; the output
 * is the number of authentication requests per second of CPU time.
 */
import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';

/** The input of one authentication request, and the number of repetitions. */
export interface AuthCost {
  readonly publicKeyPem: string;
  /** The request body that `signature` signs. */
  readonly body: string;
  /** Signature of `body` in Base64. */
  readonly signature: string;
  /** A JWT of the server. The part before its last dot is signed again, with Ed25519. */
  readonly token: string;
  readonly times: number;
}

const input = JSON.parse(process.argv[2] ?? '') as AuthCost;
const key = createPublicKey(input.publicKeyPem);
const { privateKey } = generateKeyPairSync('ed25519');
const [body, signature] = [Buffer.from(input.body), Buffer.from(input.signature, 'base64')];
const claims = Buffer.from(input.token.slice(0, input.token.lastIndexOf('.')));

// The first round only warms up.
verifyAndSign();
const { user, system } = verifyAndSign();
const cpuSeconds = (user + system) / 1_000_000;
process.stdout.write(`${input.times / cpuSeconds}\n`);

function verifyAndSign(): NodeJS.CpuUsage {
  const usageBefore = process.cpuUsage();
  for (let time = 0; time < input.times; time++) {
    if (!verify(null, body, key, signature)) throw new Error('the signature does not verify');
    sign(null, claims, privateKey);
  }
  return process.cpuUsage(usageBefore);
}
