import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../server/testing/test-server.ts';
import { exampleWorld } from '../../server/world/example.ts';
import { runCommand, startCommand } from '../testing/built-command.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-world-'));
  file = join(folder, 'world.yaml');
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('world init', () => {
  it('writes a valid example, and never overwrites a file', async () => {
    expect((await runCommand(['world', 'init', file])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(exampleWorld);
    expect((await runCommand(['world', 'check', file])).code).toBe(0);
    const again = await runCommand(['world', 'init', file]);
    expect([again.code, again.stderr]).toEqual([3, expect.stringContaining('already exists')]);
  });
});

describe('world schema', () => {
  it('is a JSON Schema that contains every member of the example', async () => {
    const { stdout, code } = await runCommand(['world', 'schema']);
    const schema = JSON.parse(stdout);
    expect([code, schema.$schema]).toEqual([0, expect.stringContaining('json-schema.org')]);
    for (const member of ['users', 'devices', 'artifacts', 'deployments', 'now']) {
      expect(schema.properties).toHaveProperty(member);
    }
  });
});

describe('world check', () => {
  it.each([
    ['devices:\n  - nmae: x\n', ':2:5: devices.0.nmae: is unknown'],
    ['deployments: [{ name: d, artifact: r }]', 'there is no artifact "r"'],
    ['devices: [', ':1:'],
  ])('shows the position of the error in %j', async (text, sentence) => {
    writeFileSync(file, text);
    const { stderr, code } = await runCommand(['world', 'check', file]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
    expect(stderr).toContain(file);
  });

  it('refuses a missing file', async () => {
    const { stderr, code } = await runCommand(['world', 'check', join(folder, 'none')]);
    expect([code, stderr]).toEqual([3, expect.stringContaining('no such file')]);
  });
});

describe('world load', () => {
  let server: TestServer;

  beforeEach(async () => {
    server = await startTestServer();
    writeFileSync(file, exampleWorld);
  });

  afterEach(() => server.close());

  const load = (token = server.controlToken) =>
    runCommand([
      'world',
      'load',
      file,
      '--control-url',
      server.controlUrl,
      '--control-token',
      token,
      '--json',
    ]);

  it('puts a running server into the state of the file', async () => {
    const { stdout, code } = await load();
    expect([code, JSON.parse(stdout).devices.length]).toEqual([0, 2]);
    const count = await server.call('count-devices', { token: server.adminToken });
    expect(count.json()).toEqual({ count: 2 });
  });

  it("prints the server's refusal", async () => {
    writeFileSync(file, 'devices: [{ name: x, group: "a b" }]');
    const { stderr, code } = await load();
    expect([code, stderr]).toEqual([2, expect.stringContaining('devices: x: group: 400')]);
  });

  it('needs the control token', async () => {
    expect((await load('wrong')).code).toBe(3);
  });
});

describe('serve --world', () => {
  const serve = ['serve', '--port', '0', '--control-port', '0', '--json', '--world'];

  it('starts in the state of the file, and reloads it at SIGHUP', async () => {
    writeFileSync(file, exampleWorld);
    const command = startCommand([...serve, file]);
    try {
      const ready = JSON.parse(await command.waitForOutput('stdout', /\n/));
      const count = async () => {
        const headers = { Authorization: `Bearer ${ready.adminToken}` };
        const path = '/api/management/v2/devauth/devices/count';
        return JSON.parse(await (await fetch(ready.baseUrl + path, { headers })).text());
      };
      expect(await count()).toEqual({ count: 2 });
      writeFileSync(file, 'devices: [{ name: alone }]');
      command.child.kill('SIGHUP');
      await command.waitForOutput('stderr', /device alone:/);
      expect(await count()).toEqual({ count: 1 });
      writeFileSync(file, 'devices: [{ nmae: alone }]');
      command.child.kill('SIGHUP');
      await command.waitForOutput('stderr', /nmae: is unknown/);
      expect(await count()).toEqual({ count: 1 });
    } finally {
      await command.end();
    }
  });

  it('does not start with an invalid file', async () => {
    writeFileSync(file, 'colour: red');
    const { stderr, code } = await runCommand([...serve, file]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${file}:1:1: colour`)]);
  });
});
