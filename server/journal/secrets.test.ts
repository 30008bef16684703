import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { mountedOperations } from '../pipeline/endpoint.ts';
import { rawRequest, sendRaw } from '../testing/raw-http.ts';
import { linkTo, publish } from '../testing/test-artifacts.ts';
import { board, deploy, instructionsIn, nextRequests } from '../testing/test-deployments.ts';
import {
  type AcceptedDevice,
  acceptedDevice,
  authenticate,
  newDevice,
} from '../testing/test-device.ts';
import { connectPeer, connectUser } from '../testing/test-peer.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { control, logIn, mailTo, secondTenant } from '../testing/test-tenants.ts';

/** Secrets for every place where an operation could take one, including a password. */
const given = 'Given-Secret-0123456789';
const operations = Object.values(mountedOperations);

/** The secrets, grouped by what they are. */
const secrets = new Map<string, string>([['a secret that was sent', given]]);
const logged: string[] = [];
let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => logged.push(String(text)) > 0);
  server = await startTestServer({ logLevel: 'debug' });
  device = await acceptedDevice(server, 'aa:01');
  secrets.set('the token of a device', device.token);
  secrets.set('the token of the admin', server.adminToken);
  secrets.set('the password of the admin', server.adminPassword);
  await takeSecrets();
  for (const operation of operations) await drive(operation);
  await sendRaw(server, rawRequest('GET /x', [`Authorization ${given}`]));
  await sendRaw(server, `${given} /x HTTP/1.1\r\n\r\n`);
}, 120_000);

afterAll(async () => {
  vi.restoreAllMocks();
  await server.close();
});

/** Calls every operation that returns a secret. */
async function takeSecrets(): Promise<void> {
  const token = server.adminToken;
  const login = await logIn(server, server.adminEmail, server.adminPassword);
  secrets.set('the token of a login', login.text);
  const basic = Buffer.from(`${server.adminEmail}:${server.adminPassword}`).toString('base64');
  secrets.set('email and password', basic);
  await logIn(server, server.adminEmail, given);
  const personal = await server.call('create-personal-token', {
    token,
    json: { name: 'ci', expires_in: 60 },
  });
  secrets.set('a personal token', personal.text);
  const mine = await server.call('get-tenant-token', { token });
  secrets.set('the token of the tenant', mine.json<{ tenant_token: string }>().tenant_token);
  const tenant = await secondTenant(server);
  secrets.set('the password of another admin', tenant.adminPassword);
  await server.call('create-user', { token, json: { email: 'one@example.com' } });
  secrets.set('the secret of an invitation', (await mailTo(server, 'one@example.com')).secret);
  const { secret } = await mailTo(server, 'one@example.com');
  await server.call('complete-password-reset', { json: { secret_hash: secret, password: given } });
  const link = await linkTo(server, device.token, await publish(server));
  secrets.set('the signature of a link', signatureIn(link.uri));
  await fetch(link.uri);
  await deploy(server, [device]);
  const instructions = instructionsIn(await nextRequests['POST v2'](server, device.token, board));
  secrets.set('the signature of a download', signatureIn(instructions.artifact.source.uri ?? ''));
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  secrets.set('a private key', pem.split('\n')[1] ?? '');
  const wrong = { ...newDevice('aa:66'), publicKeyPem: pem };
  await authenticate(server, wrong);
  await frames(pem);
}

async function frames(pem: string): Promise<void> {
  const peer = await connectPeer(server, device);
  const user = await connectUser(server, device);
  const secret = `${pem}${server.adminToken} password=${given}`;
  user.say({ proto: 1, typ: 'shell', props: { token: given }, body: Buffer.from(secret) });
  await peer.nextOf('shell');
  peer.socket.terminate();
  user.socket.terminate();
}

function signatureIn(uri: string): string {
  const found = [...new URL(uri).searchParams].find(([name]) => name.endsWith('signature'));
  if (!found) throw new Error(`a link without a signature: ${uri}`);
  return found[1];
}

/** Calls the operation with secrets in every place, in valid and malformed form. */
async function drive({ id, method, path, authorization }: Operation): Promise<void> {
  if (id === 'connect' || id === 'connect-device' || id === 'logout') return;
  const token = authorization === 'device' ? device.token : server.adminToken;
  const json = {
    password: given,
    current_password: given,
    secret_hash: given,
    tenant_token: given,
    token: given,
    id_data: `{"mac":"x","secret":"${given}"}`,
    email: 'two@example.com',
    attributes: [{ name: 'wifi_password', value: given }],
  };
  const target = `${path.replace(/\{\w+\}/g, device.id)}?secret_hash=${given}&x-svc-signature=${given}`;
  const headers = { Cookie: `JWT=${given}`, 'X-Auth-Token': given, Referer: `/?token=${given}` };
  const bodies = [
    JSON.stringify(json),
    JSON.stringify([json]),
    JSON.stringify({ ...json, filler: 'x'.repeat(20_000) }),
    `{"password": "${given}", `,
    `password=${given}&email=x`,
  ];
  for (const body of bodies) {
    const sent = { ...headers, 'Content-Type': 'application/json' };
    const isBodied = method !== 'GET' && method !== 'HEAD';
    await server.request(method, target, { token, headers: sent, ...(isBodied && { body }) });
    if (!isBodied) break;
  }
  await server.request('POST', `/wrong${target}`, { token: given, json });
}

async function everyPage(): Promise<string> {
  const texts: string[] = [];
  let lastSequence = 0;
  for (let more = true; more; ) {
    const { text } = await control(
      server,
      'GET',
      `/journal?after=${lastSequence}&limit=500&whole=true`,
    );
    texts.push(text);
    ({ next: lastSequence, more } = JSON.parse(text) as { next: number; more: boolean });
  }
  return texts.join('\n');
}

async function replayed(): Promise<string> {
  const headers = { Authorization: `Bearer ${server.controlToken}` };
  const { text: size } = await control(server, 'GET', '/journal?limit=1');
  const { next } = JSON.parse(size) as { next: number };
  const stop = new AbortController();
  const url = `${server.controlUrl}/journal/stream?after=${next - 60}&whole=true`;
  const { body } = await fetch(url, { headers, signal: stop.signal });
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.includes(`id: ${next}\n`) && text.endsWith('\n\n')) break;
  }
  stop.abort();
  return text;
}

function expectNoSecret(text: string): void {
  expect(text.length).toBeGreaterThan(1000);
  for (const [secretName, secret] of secrets) {
    expect(secret.length, secretName).toBeGreaterThan(8);
    const at = text.indexOf(secret);
    const around = at < 0 ? '' : text.slice(Math.max(0, at - 200), at + 10);
    expect(around, secretName).toBe('');
    const encoded = encodeURIComponent(secret);
    expect(text.includes(encoded), `${secretName}, escaped`).toBe(false);
  }
}

describe('the server after calls of every operation with secrets', () => {
  it('has a journal entry for each call', async () => {
    const text = await everyPage();
    const missing = operations.filter(({ id }) => !text.includes(`"operation":"${id}"`));
    expect(missing.map(({ id }) => id)).toEqual(['logout']);
    expect(text).toContain('[masked]');
  });

  it('shows no secret in any view of the journal', async () => {
    expectNoSecret(await everyPage());
  });

  it('shows no secret in the journal archive', async () => {
    expectNoSecret((await control(server, 'GET', '/journal.har')).text);
  });

  it('shows no secret in the journal stream', async () => {
    expectNoSecret(await replayed());
  });

  it('shows no secret in awaited journal entries', async () => {
    const path = '/await?after=0&whole=true&count=500&timeoutSeconds=0';
    expectNoSecret((await control(server, 'GET', path)).text);
  });

  it('shows no secret in a failed journal assertion', async () => {
    const happened = [{ operation: 'nothing' }];
    const { text } = await control(server, 'POST', '/assert', { happened });
    expectNoSecret(text.padEnd(2000));
  });

  it('shows no secret in any line of the log', () => {
    expectNoSecret(logged.join(''));
  });

  it('finds nothing in a search for a part of a secret', async () => {
    const { text } = await control(server, 'GET', `/journal?text=${given.slice(0, 6)}`);
    expect(JSON.parse(text).entries).toEqual([]);
  });
});
