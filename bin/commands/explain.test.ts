import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { authenticateDevices, knownDevices } from '../dev/bench/authenticated-devices.ts';
import { runCommand, startServe } from '../testing/built-command.ts';

let serve: Awaited<ReturnType<typeof startServe>>;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  serve = await startServe(['--explain-header', '--auto-accept']);
  const { controlUrl, controlToken } = serve.ready;
  environment = { FLEETBED_CONTROL_URL: controlUrl, FLEETBED_CONTROL_TOKEN: controlToken };
});

afterAll(() => serve.running.end());

/** Sends a request that is refused; returns its ID and the link to its explanation. */
async function sendRefused(id: string): Promise<string | null> {
  const url = serve.ready.baseUrl + operations['get-configuration'].path;
  const response = await fetch(url, { headers: { 'X-SVC-RequestID': id } });
  expect(response.status).toBe(401);
  return response.headers.get('X-SVC-Testbed-Explain');
}

/** A URL with a port at which nothing listens. */
async function closedPort(): Promise<number> {
  const closedServer = createServer().listen(0, '127.0.0.1');
  await once(closedServer, 'listening');
  const { port } = closedServer.address() as AddressInfo;
  closedServer.close();
  await once(closedServer, 'close');
  return port;
}

describe('fleetbed explain', () => {
  it('explains why a request was refused, with a command that works', async () => {
    const pathSuffix = await sendRefused('asked');
    expect(pathSuffix).toBe(`${serve.ready.controlUrl}/#request=asked`);
    const { code, stdout, stderr } = await runCommand(['explain', 'asked'], environment);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^response {4}401: the Authorization header is missing$/m);
    expect(stdout).toMatch(/^ {2}expected {2}Bearer <token>$/m);
    expect(stdout).toMatch(/^curl -isS .*\$TOKEN" "\$URL/m);
  });

  it('prints the explanation as one line of JSON with --json', async () => {
    await sendRefused('as JSON');
    const { FLEETBED_CONTROL_URL: url = '', FLEETBED_CONTROL_TOKEN: token = '' } = environment;
    const args = [
      'explain',
      'as JSON',
      '--json',
      '--control-url',
      `${url}/`,
      '--control-token',
      token,
    ];
    const { code, stdout } = await runCommand(args);
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 1]);
    expect(JSON.parse(stdout)).toMatchObject({ requestId: 'as JSON', status: 401 });
  });

  it('exits with 1 for an unknown ID, and states what the journal keeps', async () => {
    const { code, stdout, stderr } = await runCommand(['explain', 'unknown'], environment);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /no request with this ID is in the journal, which keeps .* \d+ exchanges/,
    );
  });

  it('explains why a device gets no update, and suggests names for a misspelt one', async () => {
    const [device] = await authenticateDevices(serve.ready, 1);
    const url = serve.ready.baseUrl + operations['get-next-deployment'].path;
    const headers = { Authorization: `Bearer ${device}` };
    const response = await fetch(`${url}?artifact_name=a&device_type=board`, { headers });
    expect(response.status).toBe(204);
    const id = response.headers.get('X-SVC-RequestID') ?? '';
    const claims = Buffer.from(device?.split('.')[1] ?? '', 'base64url').toString();
    const { sub } = JSON.parse(claims) as { sub: string };
    for (const args of [[id], ['--device', sub]]) {
      const { code, stdout } = await runCommand(['explain', ...args], environment);
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(/^outcome {5}no update: no deployment includes the device$/m),
      ]);
    }
    const unknown = await runCommand(['explain', '--device', `${sub}0`], environment);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('nearest: ')]);
  });

  it('shows the duty broken by a valid but discouraged request, and the remedy', async () => {
    const [known] = await knownDevices(serve.ready, 1, 10);
    const put = async (id: string, names: readonly string[]): Promise<void> => {
      const { method, path } = operations['put-attributes'];
      const headers = {
        Authorization: `Bearer ${known?.token}`,
        'Content-Type': 'application/json',
        'X-SVC-RequestID': id,
      };
      const body = JSON.stringify(names.map((name) => ({ name, value: 1 })));
      expect((await fetch(serve.ready.baseUrl + path, { method, headers, body })).status).toBe(200);
    };
    await put('wise', ['a', 'b']);
    await put('unwise', ['a', 'b', 'a']);
    const { code, stdout } = await runCommand(['explain', 'unwise'], environment);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^Valid, but not recommended:\n\d+ {2}put-attributes {2}inventory\.names-once \(should\): .*"a" twice\n {4}remedy: /,
      ),
    ]);
    const asJson = await runCommand(['explain', 'unwise', '--json'], environment);
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      requestId: 'unwise',
      findings: [{ duty: 'inventory.names-once' }],
    });
    const wise = await runCommand(['explain', 'wise'], environment);
    expect([wise.code, wise.stderr]).toEqual([1, expect.stringContaining('was not refused')]);
  });

  it.each([
    ['no ID', []],
    ['an ID and a device', ['one', '--device', 'two']],
    ['two IDs', ['one', 'two']],
    ['no URL', ['one', '--control-url', 'nowhere']],
    ['an option that there is not', ['one', '--colour']],
  ])('exits with 2 for %s', async (_, args) => {
    expect((await runCommand(['explain', ...args])).code).toBe(2);
  });

  it('exits with 3 when the token is wrong or nothing listens', async () => {
    const wrong = await runCommand(['explain', 'asked', '--control-token', 'wrong'], {
      FLEETBED_CONTROL_URL: environment.FLEETBED_CONTROL_URL ?? '',
    });
    expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining('control token')]);
    for (const port of [await closedPort(), 1]) {
      const nobody = ['explain', 'asked', '--control-url', `http://127.0.0.1:${port}`];
      const { code, stderr } = await runCommand(nobody, { FLEETBED_CONTROL_TOKEN: 't' });
      expect([code, stderr]).toEqual([3, expect.stringContaining('check --control-url')]);
    }
  });
});
