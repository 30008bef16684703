import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SuiteDevice } from '../../conformance/context/suite-device.ts';
import { reproScript } from '../../conformance/repro-script/repro-script.ts';
import { signingAlgorithms } from '../../conformance/signing/algorithms.ts';
import type { SigningKey } from '../../conformance/signing/signing-key.ts';
import { Mask } from '../../conformance/target/mask.ts';
import { Target, type TargetClient } from '../../conformance/target/target.ts';
import { blockFolder, runBlock } from '../../conformance/testing/bash.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { keyTypes } from '../../fixtures/contract/vocabulary.ts';
import { startTestServer, type TestServer } from '../../server/testing/test-server.ts';

interface ShownDevice {
  readonly id: string;
  readonly identity_data: { readonly serial?: string };
  readonly auth_sets: readonly { readonly id: string }[];
}

const hostileSerial = `it's "\\quoted"\n$(touch pwned) \u001b[31m \u202e 😀`;

let server: TestServer;
let client: TargetClient;
let mask: Mask;
let folder: string;

beforeAll(async () => {
  server = await startTestServer();
  const { baseUrl } = server;
  client = new Target({ baseUrl, clock: systemClock, requestTimeLimitMs: 5000 }).newClient();
  mask = new Mask();
  folder = blockFolder();
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function deviceOf(serial: string, key: SigningKey): SuiteDevice {
  const names = vendorNames(server.headerPrefix);
  const maskSecret = (secret: string) => mask.addSecret(secret, 'device-token');
  return new SuiteDevice(client, { identity: { serial }, key, names, maskSecret });
}

/** Returns the repro script of the last request that the suite sent. */
function lastBlock(): string {
  const exchange = client.exchangeList.exchanges.at(-1);
  if (!exchange) throw new Error('nothing was sent');
  return reproScript([exchange], { baseUrl: server.baseUrl, mask });
}

async function shownDevice(serial: string): Promise<ShownDevice | undefined> {
  const devices = await server.call('list-devices', { token: server.adminToken });
  return devices.json<ShownDevice[]>().find(({ identity_data }) => identity_data.serial === serial);
}

async function accept(serial: string): Promise<void> {
  const token = server.adminToken;
  const { id = '', auth_sets = [] } = (await shownDevice(serial)) ?? {};
  for (const { id: aid } of auth_sets) {
    const parameters = { id, aid };
    const json = { status: 'accepted' };
    const { status } = await server.call('set-auth-set-status', { token, parameters, json });
    expect(status).toBe(204);
  }
}

describe.each(keyTypes)('an authentication request with a %s key', (keyType) => {
  it('is repeated by openssl and curl with a new key', async () => {
    const serial = `${keyType} ${hostileSerial}`;
    const key = await signingAlgorithms[keyType].makeKey(seededRandom(keyType));
    await deviceOf(serial, key).authenticate();
    const block = lastBlock();
    expect(block).toContain('openssl');
    const { stdout, stderr } = await runBlock(block, folder);
    // openssl prints dots while it searches for primes.
    expect(stderr.replace(/[.+*\n]/g, '')).toBe('');
    expect(stdout).toMatch(/^HTTP\/1\.1 401/);
    // Only a valid signature adds the new key to the device.
    expect((await shownDevice(serial))?.auth_sets).toHaveLength(2);
  });

  it("is refused like the suite's own request when another key signed it", async () => {
    const algorithm = signingAlgorithms[keyType];
    const key = await algorithm.makeKey(seededRandom(`${keyType} right`));
    const signedBy = await algorithm.makeKey(seededRandom(`${keyType} wrong`));
    const response = await deviceOf(`${keyType} forged`, key).authenticate({ signedBy });
    const block = lastBlock();
    expect(block).toContain('it is invalid for the body');
    expect(block).not.toContain('openssl genpkey');
    const { stdout } = await runBlock(block, folder);
    expect(stdout).toMatch(new RegExp(`^HTTP/1\\.1 ${response.status}`));
  });
});

describe('a device request in a repro script', () => {
  it('is repeated unchanged, with a variable for its token', async () => {
    const key = await signingAlgorithms.ed25519.makeKey(seededRandom('device'));
    const device = deviceOf('a device', key);
    await device.authenticate();
    await accept('a device');
    device.token = (await device.authenticate()).text;
    await device.call('put-attributes', { body: [{ name: 'note', value: hostileSerial }] });
    const block = lastBlock();
    expect(block).not.toContain(device.token);
    await device.call('put-attributes', { body: [] });
    const { stdout, stderr } = await runBlock(block, folder, { DEVICE_TOKEN: device.token });
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^HTTP\/1\.1 200/);
    const token = server.adminToken;
    const inventory = await server.call('list-inventory', { token });
    const devices = inventory.json<{ attributes: { name: string; value: unknown }[] }[]>();
    const notes = devices.flatMap(({ attributes }) =>
      attributes.filter(({ name }) => name === 'note'),
    );
    expect(notes.map(({ value }) => value)).toEqual([hostileSerial]);
  });
});
