import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DoctorFinding } from '../../explain/doctor/finding.ts';
import { authenticate, newDevice, signatureOf } from '../../testing/test-device.ts';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control } from '../../testing/test-tenants.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

const device = newDevice('signs');
const request = { id_data: device.idData, pubkey: device.publicKeyPem };
const compact = JSON.stringify(request);

/** Sends a question to the signature doctor. */
async function examined(
  question: object,
): Promise<DoctorFinding & { refusal?: { error: string } }> {
  const { status, text } = await control(server, 'POST', '/doctor/signature', question);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return JSON.parse(text);
}

/** Sends a body with the signature of another one; returns the entry's number and request ID. */
async function sendRefused(body: string, signed = body) {
  const signature = signatureOf(signed, device.privateKey);
  const response = await authenticate(server, device, { body, signature });
  expect(response.status).toBe(401);
  const { text } = await control(server, 'GET', '/journal?operation=post-auth-request');
  const { entries } = JSON.parse(text) as { entries: { sequence: number; requestId: string }[] };
  const { sequence = 0, requestId = '' } = entries.at(-1) ?? {};
  return { sequence, requestId };
}

/** Each pair is a sent body and a signed body, both equal as JSON values. */
const causes: readonly (readonly [name: string, sent: string, signed: string])[] = [
  ['indented when it was sent', JSON.stringify(request, null, 2), compact],
  ['indented when it was signed', compact, JSON.stringify(request, null, 2)],
  ['sent with a line feed', `${compact}\n`, compact],
  ['signed with CR LF', compact, `${compact}\r\n`],
];

describe('the signature doctor over a journal entry', () => {
  it.each(causes)('finds the same cause as the explanation: %s', async (_, sent, signed) => {
    const { sequence, requestId } = await sendRefused(sent, signed);
    const found = await examined({ sequence });
    expect(found).toMatchObject({ fits: false, about: 'signature', cause: expect.any(String) });
    expect(found.refusal?.error).toBe('signature verification failed');
    const { text } = await control(server, 'GET', `/explanations/${requestId}`);
    const { diagnosis } = JSON.parse(text) as { diagnosis: { cause: string; sentence: string } };
    expect([found.cause, found.sentence]).toEqual([diagnosis.cause, diagnosis.sentence]);
  });

  it('confirms the signature when the request was refused for another reason', async () => {
    const { sequence } = await sendRefused(JSON.stringify({ ...request, tenant_token: 'secret' }));
    const { fits, refusal } = await examined({ sequence });
    expect([fits, refusal?.error]).toEqual([true, expect.stringContaining('a user')]);
  });

  it('asks for the whole body where the journal keeps only a part', async () => {
    const { sequence } = await sendRefused(compact + ' '.repeat(20_000));
    await expect(examined({ sequence })).rejects.toThrow(/^409.*send the whole body instead/);
  });

  it('returns 404 for an unknown entry or one of another operation', async () => {
    await server.call('get-configuration', {});
    const { text } = await control(server, 'GET', '/journal');
    const { entries } = JSON.parse(text) as { entries: { sequence: number }[] };
    for (const sequence of [entries.at(-1)?.sequence, 1_000_000]) {
      await expect(examined({ sequence })).rejects.toThrow(/^404.*no authentication request/);
    }
  });
});

describe('the signature doctor over submitted bytes', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');

  it.each(causes)('examines the bytes unchanged: %s', async (_, sent, signed) => {
    const signature = signatureOf(signed, device.privateKey);
    const wrong = await examined({ body: base64(sent), signature });
    expect([wrong.fits, wrong.cause]).toEqual([false, expect.any(String)]);
    expect((await examined({ body: base64(signed), signature })).fits).toBe(true);
  });

  it('accepts a separate key and bodies of any size', async () => {
    const otherDevice = newDevice('other');
    const long = compact + ' '.repeat(200_000);
    const signature = signatureOf(long, otherDevice.privateKey);
    const body = base64(long);
    expect((await examined({ body, signature, key: otherDevice.publicKeyPem })).fits).toBe(true);
    expect((await examined({ body, signature })).fits).toBe(false);
  });

  it('reports that the key of another device signed', async () => {
    const otherDevice = newDevice('has-signed');
    await authenticate(server, otherDevice);
    const signature = signatureOf(compact, otherDevice.privateKey);
    const { cause, detail } = await examined({ body: base64(compact), signature });
    expect([cause, detail]).toEqual(['key-of-another-device', expect.stringMatching(/^device /)]);
  });

  it.each([
    ['nothing', {}, 'must have the sequence number'],
    ['a body alone', { body: 'AAAA' }, 'must have the sequence number'],
    ['both', { sequence: 1, body: 'AAAA', signature: 'x' }, 'must have the sequence number'],
    ['no base64', { body: '{}', signature: 'x' }, 'body: must be the body in base64'],
    ['an unknown field', { pubkey: 'x' }, 'pubkey: is unknown'],
    ['an invalid key', { body: 'AAAA', signature: 'x', key: 7 }, 'key: must be a string'],
  ])('returns 400 with one sentence for %s', async (_, question, sentence) => {
    await expect(examined(question)).rejects.toThrow(`400: {"error":"body: ${sentence}`);
  });

  it('reports values that are not a signature, without an error', async () => {
    for (const body of ['AAAA', base64('[]'), base64(compact)]) {
      const { fits, sentence } = await examined({ body, signature: '\0é' });
      expect([fits, sentence]).toEqual([false, expect.any(String)]);
    }
  });
});
