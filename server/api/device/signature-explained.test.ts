import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyVectors, signatureVectors } from '../../../fixtures/vectors/invalid-signatures.ts';
import {
  acceptedDevice,
  authenticate,
  newDevice,
  signatureOf,
  type TestDevice,
} from '../../testing/test-device.ts';
import { explanationOf } from '../../testing/test-explanations.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  // The vectors name a tenant of their own, which only the open-source dialect ignores.
  server = await startTestServer({ dialects: new Set(['open-source']) });
});

afterAll(() => server.close());

const bodyOf = ({ idData, publicKeyPem }: TestDevice): string =>
  JSON.stringify({ id_data: idData, pubkey: publicKeyPem });

/** These vectors fit into an HTTP header, and each has a wrong signature. */
const carried = signatureVectors().filter(
  ({ cause, signature, body, otherKeys }) =>
    cause !== null && !/\s/.test(signature) && body.includes('BEGIN PUBLIC KEY') && !otherKeys,
);
const onePerCause = [...new Map(carried.map((each) => [each.cause, each])).values()];

describe('the explanation of a refused signature', () => {
  it.each(onePerCause)('names the cause that the HTTP response hides: $cause', async (vector) => {
    const { cause, body, signature } = vector;
    const headers = { 'Content-Type': 'application/json', 'X-SVC-Signature': signature };
    const response = await server.call('post-auth-request', { headers, body });
    expect([response.status, response.json().error]).toEqual([
      401,
      'signature verification failed',
    ]);
    expect((await explanationOf(server, response)).diagnosis).toMatchObject({ cause });
  });

  it('names the known device whose key made the signature', async () => {
    const neighbour = await acceptedDevice(server, 'neighbour', 'ecdsa');
    const device = newDevice('own');
    const signature = signatureOf(bodyOf(device), neighbour.privateKey);
    const response = await authenticate(server, device, { signature });
    expect((await explanationOf(server, response)).diagnosis).toMatchObject({
      cause: 'key-of-another-device',
      detail: `device ${neighbour.id}`,
    });
  });

  it('describes the signature if no known cause matches', async () => {
    const device = newDevice('damaged');
    const signature = signatureOf('{}', device.privateKey);
    const response = await authenticate(server, device, { signature });
    expect(response.status).toBe(401);
    const explanation = await explanationOf(server, response);
    expect(explanation.problem.path).toBe('header.X-SVC-Signature');
    expect(explanation.diagnosis).toMatchObject({
      cause: 'unexplained',
      sentence: expect.stringMatching(/^No known cause explains the signature/),
    });
  });
});

describe('the explanation of a refused public key', () => {
  const wrong = keyVectors().filter(({ cause }) => cause !== null);
  const onePerKey = [...new Map(wrong.map((each) => [each.cause, each])).values()];

  it.each(onePerKey)('names the cause: $cause', async ({ cause, pubkey }) => {
    const body = JSON.stringify({ id_data: '{"mac":"key"}', pubkey });
    const response = await authenticate(server, newDevice('key'), { body });
    expect(response.status).toBe(400);
    const { diagnosis } = await explanationOf(server, response);
    expect(diagnosis?.cause ?? 'unexplained').toBe(cause);
  });
});
