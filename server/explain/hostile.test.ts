import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { rawRequest, sendRaw } from '../testing/raw-http.ts';
import { type AcceptedDevice, acceptedDevice } from '../testing/test-device.ts';
import { type CorrectedExplanation, correctedOf, runInBash } from '../testing/test-explanations.ts';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import { control } from '../testing/test-tenants.ts';

let server: TestServer;
let device: AcceptedDevice;

beforeAll(async () => {
  server = await startTestServer();
  device = await acceptedDevice(server, 'hostile');
});

afterAll(() => server.close());

const seed = 4;
const chunks = [
  "'",
  '"',
  '`',
  '$(touch made)',
  ';touch made;',
  '\\',
  '|',
  '&',
  '\n',
  '}',
  '!',
  '\u202e',
];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...chunks), fc.string({ maxLength: 3 })), { maxLength: 8 })
  .map((parts) => parts.join('').replaceAll('\0', ''));

/** Returns the arguments of the calls that a command would make, without making any call. */
async function callsOf({
  command,
  variables,
}: Pick<CorrectedExplanation, 'command' | 'variables'>) {
  const stubs = [
    'curl() { printf "%s\\0" "$@"; printf "end\\0"; }',
    'openssl() { :; }',
    'mktemp() { echo body; }',
  ];
  const placeholders = Object.keys(variables).map((name) => [name, `$${name}`]);
  const { stdout, stderr } = await runInBash([...stubs, command, 'rm -f body; ls -A'].join('\n'), {
    ...Object.fromEntries(placeholders),
    URL: 'http://url',
    BODY_FILE: 'body-file',
  });
  const args = stdout.split('\0');
  return { args, made: args.at(-1), stderr };
}

describe('a command built from hostile input', () => {
  it('calls curl with exactly this input in path, query, headers and body', async () => {
    let bodies = 0;
    for (const [index, [id, query, header, text]] of fc
      .sample(fc.tuple(hostile, hostile, hostile, hostile), { seed, numRuns: 40 })
      .entries()) {
      const path = operations['put-deployment-log'].path.replace('{id}', encodeURI(id) || 'x');
      const body = JSON.stringify({ messages: [{ level: text, message: text }] });
      const head = [
        `X-SVC-RequestID: hostile-${index}`,
        `Authorization: Bearer ${device.token}`,
        'Content-Type: application/json',
        `Accept: a${header.replace(/[^\x20-\x7e]/g, '')}`,
        `Content-Length: ${Buffer.byteLength(body)}`,
      ];
      const target = `${path}?${encodeURI(query)}`;
      await sendRaw(server, rawRequest(`PUT ${target}`, head, body));
      const response = await control(server, 'GET', `/explanations/hostile-${index}`);
      const { correctedRequest, ...explained } = JSON.parse(response.text);
      const { args, made, stderr } = await callsOf(explained);
      expect({ made, stderr }).toEqual({ made: '', stderr: '' });
      const data = args.findIndex((word) => /^--data-(raw|binary)$/.test(word));
      const queryText = args.filter((_, at) => args[at - 1] === '--data-urlencode').join('&');
      const sent = correctedRequest.body?.replace('$BODY_FILE', 'body-file');
      expect(data < 0 ? undefined : args[data + 1]).toBe(sent);
      const url = args.at(-3) + (queryText === '' ? '' : `?${queryText}`);
      expect(url).toBe(`http://url${correctedRequest.path}`);
      bodies += data < 0 ? 0 : 1;
    }
    expect(bodies).toBeGreaterThan(20);
  }, 60_000);

  it('signs and sends the exact bytes of an authentication request', async () => {
    for (const text of fc.sample(hostile, { seed, numRuns: 20 })) {
      const idData = JSON.stringify({ mac: text });
      const body = JSON.stringify({ id_data: idData, pubkey: device.publicKeyPem, note: text });
      const headers = { 'Content-Type': 'application/json', 'X-SVC-Signature': 'x' };
      const response = await server.call('post-auth-request', { headers, body });
      const { command, variables } = await correctedOf(server, response);
      const { made, stderr } = await callsOf({ command, variables });
      expect({ made, stderr }).toEqual({ made: '', stderr: '' });
      const sent = await runInBash(
        `mktemp() { echo body; }; openssl() { :; }; curl() { :; }\n${command}\ncat body`,
        { URL: 'http://url', KEY: 'key' },
      );
      expect(sent.stdout).toBe(body);
    }
  }, 60_000);

  it('keeps the identity of a device in a single word', async () => {
    const mac = 'x\'"$(touch made)`touch made`\\';
    const own = await acceptedDevice(server, mac);
    await server.call('revoke-token', {
      token: server.adminToken,
      parameters: { jti: own.authSetId },
    });
    const response = await server.call('get-configuration', { token: own.token });
    const { command } = await correctedOf(server, response);
    const sent = await runInBash(
      `mktemp() { echo body; }; openssl() { :; }; curl() { :; }\n${command}\ncat body; ls -A`,
      { URL: 'http://url', KEY: 'key' },
    );
    expect(sent.stdout).toBe(`${JSON.stringify({ id_data: own.idData, pubkey: '' })}body\n`);
  });
});

describe('an explanation of hostile input', () => {
  it('contains no secret that was sent', async () => {
    const secret = 'hunter2-hunter2';
    const calls = [
      server.call('create-user-v1', {
        token: server.adminToken,
        json: { email: 7, password: secret, more: { api_key: secret } },
      }),
      server.call('put-attributes', {
        token: device.token,
        json: [{ name: 'wifi_password', value: secret, description: 7 }],
      }),
      server.call('complete-password-reset', {
        query: { secret_hash: secret },
        json: { secret_hash: secret, password: 7 },
      }),
      server.request('GET', `${operations['get-configuration'].path}x?token=${secret}`, {
        token: secret,
        headers: { Cookie: `JWT=${secret}`, 'X-Api-Key': secret },
      }),
    ];
    for (const response of await Promise.all(calls)) {
      const explanation = await correctedOf(server, response);
      expect([explanation.status, JSON.stringify(explanation)]).toEqual([
        expect.any(Number),
        expect.not.stringContaining(secret),
      ]);
    }
  });

  it('exists for a body nested too deeply to be walked recursively', async () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const deep = nested(4_000);
    const headers = { 'Content-Type': 'application/json' };
    for (const body of [nested(9_000), deep, `[{"name":"x","value":${deep}}]`]) {
      const response = await server.call('put-attributes', { token: device.token, headers, body });
      expect(response.status).toBe(400);
      const { correctedRequest } = await correctedOf(server, response);
      // The journal keeps only the beginning of a large body.
      expect(correctedRequest.body).toMatch(/^(\[\{"name"|@\$BODY_FILE)/);
    }
  });
});
