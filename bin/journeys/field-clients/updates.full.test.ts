import { execFile, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import type { Device } from '../../../fixtures/contract/management/devices.ts';
import type { InventoryDevice } from '../../../fixtures/contract/management/inventory.ts';
import { tar } from '../../../fixtures/formats/mender-artifact-writer.ts';
import { publish, shownArtifact } from '../../../server/testing/test-artifacts.ts';
import { abort, deviceDeploymentOf } from '../../../server/testing/test-deployments.ts';
import { startTestServer, type TestServer } from '../../../server/testing/test-server.ts';
import { runCommand } from '../../testing/built-command.ts';
import { openArtifactTool } from './testing/artifact-tool.ts';
import { type DeviceRootFiles, modulesFolder } from './testing/device-root.ts';
import {
  type FieldDevice,
  firstContact,
  judge,
  letIn,
  startFieldDevice,
} from './testing/field-device.ts';
import { programPath } from './testing/programs.ts';
import {
  applicationFiles,
  applicationPath,
  deviceDeploymentWhen,
  logOf,
  rollOut,
  waitUntilFinished,
} from './testing/rollout.ts';

const adminPassword = 'a-long-password';

let server: TestServer;
let device: FieldDevice;

beforeAll(async () => {
  server = await startTestServer({ clock: systemClock, headerPrefix: 'X-MEN', adminPassword });
});

afterAll(() => server.close());

afterEach(() => device.end());

async function start(name: string, files?: Partial<DeviceRootFiles>): Promise<void> {
  device = await startFieldDevice(server, name, files);
}

/** Starts a field device and accepts it. */
async function startLetIn(name: string, files?: Partial<DeviceRootFiles>) {
  await start(name, files);
  return { server, device, storedDevice: await letIn(server, device) };
}

/** Resolves with the inventory of the device once the attribute has this value. */
function inventory(
  storedDevice: Device,
  name: string,
  value: unknown,
): Promise<Record<string, unknown>> {
  const call = { token: server.adminToken, parameters: { id: storedDevice.id } };
  return device.client.until(async () => {
    const response = await server.call('get-inventory', call);
    if (response.status !== 200) return undefined;
    const own = response
      .json<InventoryDevice>()
      .attributes.filter(({ scope }) => scope === 'inventory')
      .map(({ name: key, value: given }) => [key, given]);
    const attributes = Object.fromEntries(own);
    return attributes[name] === value ? attributes : undefined;
  });
}

const readInstalled = () => readFileSync(join(device.root, applicationPath), 'utf8');

/** An update module that waits until the test writes to the gate, and that supports rollback. */
const gatedModule = `#!/bin/sh
case "$1" in
  SupportsRollback) echo Yes ;;
  ArtifactInstall) echo at the gate >&2; read -r word < /tmp/gate ;;
  ArtifactRollback) echo done > /tmp/rolled-back ;;
esac
`;

/** An update module that stores a configuration like the module `mender-configure` in the field. */
const configureModule = `#!/bin/sh
case "$1" in
  ArtifactInstall) cat "$2/header/meta-data" > /var/lib/mender/configured.json ;;
esac
`;

describe("the authorization of Debian's mender-client", {
  timeout: 60_000,
}, () => {
  it('is refused until a user accepts the device, which then sends its inventory', async () => {
    await start('inventory', { inventory: ['color=red', 'port=a', 'port=b', 'note=é "x"'] });
    await device.client.waitForOutput(/rejected server error message: device not authorized/);
    const storedDevice = await firstContact(server, device);
    expect(storedDevice.status).toBe('pending');
    expect(storedDevice.auth_sets[0]?.pubkey).toMatch(/^-----BEGIN PUBLIC KEY-----/);
    await judge(server, storedDevice, 'accepted');
    expect(await inventory(storedDevice, 'color', 'red')).toMatchObject({
      artifact_name: 'release-0',
      device_type: 'board',
      mender_client_version: expect.stringMatching(/^\d+\./),
      port: ['a', 'b'],
      note: 'é "x"',
    });
  });

  it('ends when a user rejects the device', async () => {
    const { storedDevice } = await startLetIn('rejected', { inventory: ['color=red'] });
    await inventory(storedDevice, 'color', 'red');
    await judge(server, storedDevice, 'rejected');
    await device.client.waitForOutput(
      /Reauthorization successful(.*\n)+.*Device unauthorized(.*\n)+.*Reauthorization failed/,
    );
  });
});

describe("Debian's mender-client", { timeout: 60_000 }, () => {
  const content = Buffer.from('content of app.bin');

  it.each<[module: string, args: readonly string[], file: () => Buffer | Promise<Buffer>]>([
    ['single-file', ['--dest-dir', '/var/lib/app'], () => content],
    ['directory', ['--dest-dir', '/var/lib/app'], () => tar([{ name: 'app.bin', content }], 0)],
    [
      'script',
      [],
      () =>
        Buffer.from(
          `#!/bin/sh\nmkdir -p /var/lib/app\nprintf '${content}' > /${applicationPath}\n`,
        ),
    ],
  ])('installs by %s what fleetbed deploy made of a plain file', async (module, args, file) => {
    const { storedDevice } = await startLetIn(module);
    const path = join(device.root, 'app.bin');
    writeFileSync(path, await file());
    const made = ['--artifact-name', `made-${module}`, '--type', module, '--device-type', 'board'];
    const target = [
      '--url',
      server.baseUrl,
      '--token',
      server.adminToken,
      '--device',
      storedDevice.id,
    ];
    const command = await runCommand(['deploy', path, ...made, ...args, ...target]);
    expect([command.code, command.stderr]).toEqual([0, '']);
    const { status } = await waitUntilFinished({
      server,
      device,
      storedDevice,
      deployment: command.stdout.trim(),
    });
    expect(status, device.client.written).toBe('success');
    expect(readInstalled()).toBe(`${content}`);
  });

  it('installs what mender-artifact compresses by lzma and fleetbed deploys', async () => {
    const { storedDevice } = await startLetIn('lzma');
    const tool = openArtifactTool();
    for (const file of applicationFiles) tool.put(file.name, file.content);
    const files = applicationFiles.flatMap(({ name }) => ['--file', name]);
    const named = ['--artifact-name', 'by-lzma', '--device-type', 'board'];
    const args = ['module-image', '--type', 'single-file', ...named, ...files];
    const path = join(device.root, 'by-lzma.mender');
    writeFileSync(path, tool.write(...args, '--compression', 'lzma'));
    tool.close();
    const target = [
      '--url',
      server.baseUrl,
      '--token',
      server.adminToken,
      '--device',
      storedDevice.id,
    ];
    const command = await runCommand(['deploy', path, ...target]);
    expect([command.code, command.stderr]).toEqual([0, '']);
    const { status } = await waitUntilFinished({
      server,
      device,
      storedDevice,
      deployment: command.stdout.trim(),
    });
    expect(status, device.client.written).toBe('success');
    expect(readInstalled()).toBe(`${content}`);
  });

  it("installs the artifact that the guide's example makes of a plain file", async () => {
    const client = await startLetIn('walk');
    const guide = readFileSync(new URL('../../../server/guide.md', import.meta.url), 'utf8');
    const script = /```sh\n(set -eu\n.*?)# The device has a key/s.exec(guide)?.[1] ?? '';
    await promisify(execFile)('sh', ['-c', script], {
      cwd: join(device.root, 'tmp'),
      env: { PATH: process.env.PATH, URL: server.baseUrl, FLEETBED_ADMIN_PASSWORD: adminPassword },
    });
    const { status } = await waitUntilFinished(await rollOut(client, 'release-2'));
    expect(status, device.client.written).toBe('success');
    expect(readFileSync(join(device.root, 'etc/motd'), 'utf8')).toBe('hello from release 2\n');
  });

  it('is not offered its installed artifact, nor an artifact for other devices', async () => {
    const client = await startLetIn('content');
    await publish(server, { name: 'release-0', files: applicationFiles });
    const same = await waitUntilFinished(await rollOut(client, 'release-0'));
    expect(same.status).toBe('already-installed');
    await publish(server, { name: 'other', deviceTypes: ['other'] });
    const otherDeployment = await waitUntilFinished(await rollOut(client, 'other'));
    expect(otherDeployment.status).toBe('noartifact');
    expect(existsSync(join(device.root, applicationPath))).toBe(false);
  });

  it('reports a failing update with its log', async () => {
    const client = await startLetIn('failing');
    const script = Buffer.from('#!/bin/sh\necho the disk is full >&2\nexit 3\n');
    const files = [{ name: 'install.sh', content: script }];
    await publish(server, { name: 'failing', payloadType: 'script', files });
    const rollout = await rollOut(client, 'failing');
    expect((await deviceDeploymentWhen(rollout, ({ log }) => log)).status).toBe('failure');
    const log = await logOf(rollout);
    expect(log).toMatch(/^20\d\d-.* info: Running Mender client version: \d+\./);
    expect(log).toMatch(/ info: Output \(stderr\) from command .*: the disk is full\n/);
    expect(log).toContain(' error: Update module terminated abnormally: exit status 3\n');
  });

  it('rolls back an update that is aborted during installation', async () => {
    const client = await startLetIn('aborted', {
      files: { [`${modulesFolder}/gated`]: gatedModule },
    });
    const path = join(device.root, 'tmp/gate');
    spawnSync(programPath('mkfifo'), ['--mode=666', path]);
    const gate = openSync(path, 'r+');
    try {
      await publish(server, { name: 'gated', payloadType: 'gated' });
      const { deployment, storedDevice } = await rollOut(client, 'gated');
      await device.client.waitForOutput(/at the gate/);
      expect((await deviceDeploymentOf(server, deployment, storedDevice))?.status).toBe(
        'installing',
      );
      expect((await abort(server, deployment)).status).toBe(204);
      writeSync(gate, 'go\n');
      await device.client.waitForOutput(
        /aborted at the backend(.*\n)*.*cleanup \[Error\](.*\n)*.*-> idle/,
      );
      expect(existsSync(join(device.root, 'tmp/rolled-back'))).toBe(true);
      expect((await deviceDeploymentOf(server, deployment, storedDevice))?.status).toBe('aborted');
    } finally {
      // A module that still waits at the gate then reads the end of the file.
      closeSync(gate);
    }
  });

  it('applies the configuration that a user deploys', async () => {
    const files = { [`${modulesFolder}/mender-configure`]: configureModule };
    const client = await startLetIn('configuration', { files });
    const call = { token: server.adminToken, parameters: { id: client.storedDevice.id } };
    await server.call('set-configuration', { ...call, json: { timezone: 'UTC' } });
    const response = await server.call('deploy-configuration', { ...call, json: {} });
    const { deployment_id: deployment } = response.json<{ deployment_id: string }>();
    const { status } = await waitUntilFinished({ ...client, deployment });
    expect(status, device.client.written).toBe('success');
    const stored = readFileSync(join(device.root, 'var/lib/mender/configured.json'), 'utf8');
    expect(JSON.parse(stored)).toEqual({ timezone: 'UTC' });
  });
});

describe("Debian's mender-client with signature verification", { timeout: 60_000 }, () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const verifying = {
    settings: { ArtifactVerifyKey: '/etc/mender/verify.pem' },
    files: {
      'etc/mender/verify.pem': publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    },
  };

  it("installs an artifact that Debian's mender-artifact wrote and signed", async () => {
    const client = await startLetIn('verifying', verifying);
    const id = await publish(server, signedArtifact());
    expect(await shownArtifact(server, id)).toMatchObject({ name: 'signed', signed: true });
    const { status } = await waitUntilFinished(await rollOut(client, 'signed'));
    expect(status, device.client.written).toBe('success');
    expect(readInstalled()).toBe('content of app.bin');
  });

  it('refuses an artifact without a signature', async () => {
    const client = await startLetIn('suspicious', verifying);
    await publish(server, { name: 'unsigned', files: applicationFiles });
    const rollout = await rollOut(client, 'unsigned');
    expect((await deviceDeploymentWhen(rollout, ({ log }) => log)).status).toBe('failure');
    expect(await logOf(rollout)).toContain('expecting signed artifact');
  });

  function signedArtifact(): Buffer {
    const tool = openArtifactTool();
    try {
      tool.put('key.pem', privateKey.export({ type: 'sec1', format: 'pem' }));
      for (const { name, content } of applicationFiles) tool.put(name, content);
      const files = applicationFiles.flatMap(({ name }) => ['--file', name]);
      const options = [
        '--type',
        'single-file',
        '--artifact-name',
        'signed',
        '--device-type',
        'board',
      ];
      return tool.write('module-image', ...options, ...files, '--key', 'key.pem');
    } finally {
      tool.close();
    }
  }
});
