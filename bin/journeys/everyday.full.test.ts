import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { writeArtifact } from '../../fixtures/formats/mender-artifact-writer.ts';
import { compressedArtifact } from '../../fixtures/testing/compressed-artifact.ts';
import { malformedArtifact } from '../../fixtures/testing/malformed-artifact.ts';
import { acceptedDevice, authenticate, newDevice } from '../../server/testing/test-device.ts';
import { startTestServer, type TestServer } from '../../server/testing/test-server.ts';
import { createOutput } from '../output/output.ts';
import { serverReady } from '../server-access/ready.ts';
import { writeRunFile } from '../server-access/run-file.ts';
import { runCommand } from '../testing/built-command.ts';

const RUN_MAX_MS = 120_000;
let server: TestServer;
let folder: string;
let file: string;
let removeRunFile: () => void;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-everyday-'));
  file = join(folder, 'motd');
  environment = { XDG_RUNTIME_DIR: folder, XDG_STATE_HOME: folder, FLEETBED_CONTROL_URL: '' };
  server = await startTestServer();
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  removeRunFile = await writeRunFile(
    serverReady({ ...server, faults: undefined as never }),
    createOutput(true),
  );
});

afterAll(async () => {
  removeRunFile();
  vi.unstubAllEnvs();
  await server.close();
  rmSync(folder, { recursive: true });
});

/** Exit code and standard output of a command that writes nothing to standard error. */
async function run(args: string) {
  const { code, stdout, stderr } = await runCommand(args.split(' '), environment);
  expect(stderr).toBe('');
  return [code, stdout];
}

/** Returns the sentence of a command that is refused with one line. */
async function refusalOf(args: string, exitCode: number): Promise<string> {
  const { code, stdout, stderr } = await runCommand(args.split(' '), environment);
  expect([code, stdout, stderr.trimEnd().split('\n').length]).toEqual([exitCode, '', 1]);
  return stderr;
}

describe('the commands devices, accept and deploy', { timeout: RUN_MAX_MS }, () => {
  it('deploy a file to a device named by its MAC address', async () => {
    expect(await run('devices')).toEqual([0, 'There are no devices.\n']);
    for (const mac of ['02:00:00:00:00:01', '02:00:00:00:00:02', 'twin', 'twin']) {
      const device = newDevice(mac);
      const idData = JSON.stringify({ mac, key: device.publicKeyPem.slice(-40) });
      await authenticate(server, { ...device, ...(mac === 'twin' && { idData }) });
    }
    const miss = await refusalOf('accept 02:00:00:00:00:0', 1);
    expect(miss).toContain('value 02:00:00:00:00:0; nearest: 02:00:00:00:00:01');
    expect(await refusalOf('accept twin', 1)).toMatch(
      /2 devices have .* twin; name one by its ID: /,
    );
    const nobody = 'deploy package.json --device-type board --type script';
    expect(await refusalOf(nobody, 1)).toContain('there is no accepted device');
    const one = await run('accept 02:00:00:00:00:01');
    expect(one).toEqual([
      0,
      expect.stringMatching(/^\S+ \(mac=02:00:00:00:00:01\) is now accepted\.\n/),
    ]);
    expect((await run('accept 02:00:00:00:00:01'))[1]).toContain('was already accepted');
    const accepted = JSON.parse(String((await run('accept --all --json'))[1]));
    expect(accepted).toEqual({ accepted: expect.any(Array), alreadyAccepted: [] });
    expect(accepted.accepted).toHaveLength(3);
    const [, table] = await run('devices --status accepted');
    expect(table).toMatch(/^ID +IDENTITY +STATUS +DEVICE TYPE +LAST SEEN\n\S+ {2}mac=02:00:00:/);
    writeFileSync(file, 'hello\n');
    const args = `deploy ${file} --device-type board --dest-dir`;
    const [, id] = await run(`${args} /etc --device 02:00:00:00:00:02`);
    const path = pathOf(managementOperations['get-deployment'], { id: String(id).trim() });
    const deployed = await server.request('GET', path, { token: server.adminToken });
    expect(deployed.json()).toMatchObject({ name: 'motd', artifact_name: 'motd', device_count: 1 });
    const again = await runCommand(`${args} /etc --name again`.split(' '), environment);
    expect([again.code, again.stderr]).toEqual([0, 'motd is already on the server.\n']);
    expect(await refusalOf(`${args} /opt`, 1)).toContain('with other content');
    const asScript = `deploy ${file} --device-type board --type script`;
    expect(await refusalOf(asScript, 1)).toContain('with other content');
    writeFileSync(file, 'other\n');
    expect(await refusalOf(`${args} /etc`, 1)).toContain('with other content');
  });

  it('upload an artifact once, and deploy it to all devices', async () => {
    const artifact = await writeArtifact({
      name: 'release-2',
      deviceTypes: ['board'],
      payloadType: 'single-file',
      files: [{ name: 'app.bin', content: Buffer.from('new') }],
      modifiedMs: 0,
    });
    const path = join(folder, 'release-2.mender');
    writeFileSync(path, artifact);
    expect(JSON.parse(String((await run(`deploy ${path} --json`))[1]))).toMatchObject({
      artifactName: 'release-2',
      uploaded: true,
      devices: 'all',
    });
    const again = await runCommand(['deploy', path, '--name', 'again'], environment);
    expect([again.code, again.stderr]).toEqual([0, 'release-2 is already on the server.\n']);
    writeFileSync(path, artifact.subarray(0, 3000));
    expect(await refusalOf(`deploy ${path}`, 3)).toContain('is not a valid artifact');
  });

  it('say which payload of an artifact is stored without being read', async () => {
    await acceptedDevice(server, 'wide');
    const path = join(folder, 'wide.mender');
    writeFileSync(
      path,
      await malformedArtifact(compressedArtifact('header.tar.zst', 'wide.tar.zst')),
    );
    const { code, stderr } = await runCommand(['deploy', path], environment);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^release-1 is stored without reading data\/0000\.tar\.zst: its zstd .*\n$/,
      ),
    ]);
    writeFileSync(
      path,
      await malformedArtifact(compressedArtifact('wide.tar.zst', 'data.tar.zst')),
    );
    expect(await refusalOf(`deploy ${path}`, 3)).toContain('its zstd compression cannot be read');
  });

  it.each([
    ['deploy package.json', 'package.json is not an artifact; give --device-type', 2],
    [
      'deploy fixtures/vectors/mender-artifact/conformance-release-1.mender --dest-dir /opt',
      'leave out --artifact-name, --device-type, --type and --dest-dir.',
      2,
    ],
    ['deploy /nowhere', 'deploy cannot read /nowhere: there is no such file', 3],
    [
      'deploy package.json --device-type board',
      'package.json is not an artifact; give --dest-dir, the absolute path of the directory on the device that the file goes to, or another --type such as script.',
      2,
    ],
    [
      'deploy package.json --device-type board --dest-dir opt',
      '--dest-dir must be the absolute path of the directory on the device that the file goes to, not opt.',
      2,
    ],
    [
      'deploy package.json --device-type board --type directory --dest-dir /',
      'of letters, digits and .,_+- and not "/", not /.',
      2,
    ],
    [
      'deploy package.json --device-type board --type deb',
      'the name of package.json must be a name that ends in .deb, not package.json.',
      2,
    ],
    [
      'deploy package.json --device-type board --type docker',
      '--type must be a type that installs a file, which docker does not: write its artifact with',
      2,
    ],
    [
      'deploy package.json --device-type board --type script --dest-dir /opt',
      '--dest-dir must be absent, as the type script has no use for it, not /opt.',
      2,
    ],
    [
      'deploy package.json --device-type board --dest-dir /opt --device nobody',
      'nobody; nearest: ',
      1,
    ],
    ['accept', 'name devices, or give --all', 2],
    ['accept one --all', 'name devices, or give --all', 2],
    ['devices --status lost', 'Accepted: pending, accepted', 2],
    ['devices --password wrong', 'answered with 401; check --email admin@example.com', 3],
    ['devices --token wrong', 'get a valid token', 3],
    ['devices --email other@example.com', 'name a user with --password', 2],
    ['devices --url http://127.0.0.1:2 --token t', 'nothing listens there; check --url', 3],
  ])('refuse the command line `fleetbed %s`', async (args, sentence, exitCode) => {
    expect(await refusalOf(args, exitCode)).toContain(sentence);
  });
});

describe('the commands clock, snapshot and reset', { timeout: RUN_MAX_MS }, () => {
  it("change the time, even beyond the expiry of the run file's token", async () => {
    const json = async (args: string) => JSON.parse(String((await run(`${args} --json`))[1]));
    expect(await json('clock')).toMatchObject({ mode: 'base', offsetSeconds: 0 });
    expect(await json('clock +8d')).toMatchObject({ offsetSeconds: 8 * 86_400 });
    expect((await run('devices'))[0]).toBe(0);
    expect(await run('clock 2027-08-25 --rate 0')).toEqual([
      0,
      expect.stringMatching(/^2027-08-25T00:00:00\.000Z {2}frozen, [\d.]+ days ahead\n$/),
    ]);
    expect(await json('clock resume')).toMatchObject({ mode: 'shifted', rate: 1 });
    expect(await refusalOf('clock --until 2020-01-01', 1)).toContain('is in the past');
    expect(await json('clock reset')).toMatchObject({ mode: 'base' });
  });

  it('save a state, restore it, and return to the start state', async () => {
    expect(await run('snapshot list')).toEqual([0, 'There are no snapshots.\n']);
    expect(await run('snapshot save before')).toEqual([0, 'before is saved.\n']);
    expect(await run('reset')).toEqual([0, 'The server is in its start state.\n']);
    expect(await run('devices')).toEqual([0, 'There are no devices.\n']);
    expect(await refusalOf('snapshot restore befor', 1)).toContain('the snapshot is before');
    expect(await run('snapshot restore before')).toEqual([0, 'before is restored.\n']);
    expect(await refusalOf('reset --device twim', 1)).toContain('nearest: twin');
    expect(await run('reset --device 02:00:00:00:00:01')).toEqual([
      0,
      '02:00:00:00:00:01 is removed, as the start state does not contain it.\n',
    ]);
    expect((await run('snapshot list'))[1]).toMatch(/^\S+Z {2}before\n$/);
    expect(await run('snapshot delete before')).toEqual([0, 'before is deleted.\n']);
    expect(await refusalOf('snapshot delete before', 1)).toContain('there are no snapshots');
  });

  it.each([
    ['clock yesterday', 'Accepted: +DURATION such as +7d, a date'],
    ['clock freeze --until 2027-01-01', 'a change cannot be used with --until'],
    ['clock --rate fast', 'Accepted: a number from 0'],
    ['snapshot save a/b', 'must be 1 to 100 letters'],
    ['reset --tenant', 'argument missing'],
  ])('refuse the command line `fleetbed %s`', async (args, sentence) => {
    expect(await refusalOf(args, 2)).toContain(sentence);
  });
});
