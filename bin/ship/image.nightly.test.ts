import { type ChildProcessByStdio, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import type { ServerReady } from '../server-access/ready.ts';
import { projectFolder } from '../testing/documents.ts';
import { reachesRegistry } from '../testing/registry.ts';
import { hasProgram } from '../testing/test-tools.ts';

const BUILD_MAX_MS = 1_800_000;
const START_MAX_MS = 120_000;
const END_MAX_MS = 1000;
/** The search path that container runtimes set where an image sets none. */
const PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const programs = ['buildah', 'mmdebstrap', 'unshare', 'chroot'];
const missing = programs.filter((program) => !hasProgram(program));
const isRoot = process.getuid?.() === 0;
const isPossible = missing.length === 0 && isRoot && reachesRegistry('the image');
if (!isPossible) {
  const lacks = [...missing, ...(isRoot ? [] : ['root'])].join(', ');
  process.stderr.write(`the image is not built, because there is no ${lacks || 'registry'}\n`);
}

const folder = isPossible ? mkdtempSync(join(tmpdir(), 'fleetbed-image-')) : '';
const dockerfile = readFileSync(join(projectFolder, 'bin/ship/Dockerfile'), 'utf8');

/** Runs a program in the folder and returns its output. Rejects when it fails. */
async function run(program: string, ...args: readonly string[]): Promise<string> {
  const settings = { cwd: folder, timeout: BUILD_MAX_MS, maxBuffer: 100_000_000 };
  const { stdout } = await promisify(execFile)(program, args, settings);
  return stdout.trim();
}

/** Runs buildah with its images in the folder, and with `chroot` in place of a container runtime. */
const storage = ['--storage-driver', 'vfs', '--root', 'store', '--runroot', 'run'];
const buildah = (verb: string, ...args: readonly string[]) =>
  run('buildah', ...storage, verb, ...args);
const build = (...args: readonly string[]) =>
  buildah('build', '--isolation', 'chroot', '--pull-never', '--format', 'docker', ...args);

/**
 * Builds a base image without pulling one: the essential packages of this machine's Debian, with this
 * machine's Node and npm.
 */
async function buildBase(name: string): Promise<void> {
  const [, suite = 'stable'] =
    /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  await run('mmdebstrap', '--variant=essential', '--include=libstdc++6', suite, 'root.tar');
  const base = join(folder, 'base');
  mkdirSync(base);
  cpSync(realpathSync(process.execPath), join(base, 'node'));
  const npm = realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim());
  cpSync(dirname(dirname(npm)), join(base, 'npm'), { recursive: true });
  cpSync(join(folder, 'root.tar'), join(base, 'root.tar'));
  // A certificate authority of this network, which the installation in the image needs, too.
  const authority = process.env.NODE_EXTRA_CA_CERTS;
  writeFileSync(join(base, 'extra-ca.pem'), authority ? readFileSync(authority) : '');
  const lines = [
    'FROM scratch',
    'ADD root.tar /',
    'COPY node /usr/local/bin/node',
    'COPY npm /usr/local/lib/node_modules/npm',
    'COPY extra-ca.pem /etc/extra-ca.pem',
    ...(authority ? ['ENV NODE_EXTRA_CA_CERTS=/etc/extra-ca.pem'] : []),
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
  ];
  writeFileSync(join(base, 'Dockerfile'), lines.join('\n'));
  await build('--tag', name, base);
}

interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly StopSignal: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

describe.skipIf(!isPossible)('the image that the Dockerfile builds', () => {
  let config: ImageConfig;
  let root: string;

  beforeAll(async () => {
    await buildBase('base');
    const ship = join(projectFolder, 'bin/ship');
    const cache = `${await run('npm', 'config', 'get', 'cache')}:/root/.npm`;
    const files = [
      '--file',
      join(ship, 'Dockerfile'),
      '--ignorefile',
      join(ship, 'Dockerfile.dockerignore'),
    ];
    const base = ['--build-arg', 'NODE=localhost/base', '--volume', cache];
    await build(...files, ...base, '--tag', 'fleetbed', projectFolder);
    const inspected = JSON.parse(await buildah('inspect', '--type', 'image', 'fleetbed'));
    config = inspected.Docker.config;
    root = await buildah('mount', await buildah('from', '--pull-never', 'fleetbed'));
  }, BUILD_MAX_MS);

  afterAll(async () => {
    if (root !== undefined) await buildah('rm', '--all');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }, START_MAX_MS);

  /**
   * Starts a command in the image as a container would: as its user, with its environment, on a
   * read-only root with `/tmp` and `/data` in memory.
   */
  function start(args: readonly string[]): ChildProcessByStdio<null, Readable, Readable> {
    const mounts = [
      'mount --bind "$0" "$0"',
      'mount -o remount,bind,ro "$0"',
      'mount -t tmpfs tmpfs "$0/tmp"',
      'mount -t tmpfs -o mode=0755,uid=1000,gid=1000 tmpfs "$0/data"',
      'user=$1',
      'shift',
      'exec chroot --userspec="$user" "$0" env --ignore-environment "$@"',
    ].join(' && ');
    const environment = [PATH, ...config.Env, ...args];
    const all = ['--mount', 'sh', '-c', mounts, root, config.User, ...environment];
    return spawn('unshare', all, { stdio: ['ignore', 'pipe', 'pipe'] });
  }

  async function outputOf(...args: readonly string[]) {
    const child = start(args);
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (part) => (stdout += part));
    child.stderr.on('data', (part) => (stderr += part));
    const [code] = await once(child, 'close');
    return { code, stdout, stderr };
  }

  it(
    'runs any command as a user without rights, on a read-only root',
    async () => {
      const version = await outputOf(...config.Entrypoint, '--version');
      expect(version).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      });
      expect((await outputOf('id', '--user')).stdout).toBe('1000\n');
      expect((await outputOf('touch', '/app/new')).stderr).toMatch(/Read-only file system/);
    },
    START_MAX_MS,
  );

  it('lists its packages in a CycloneDX document', () => {
    const { bomFormat, components } = JSON.parse(
      readFileSync(join(root, 'app/sbom.cdx.json'), 'utf8'),
    );
    expect(bomFormat).toBe('CycloneDX');
    expect(components.map(({ name }: { readonly name: string }) => name)).toContain('fleetbed');
  });

  it(
    'serves with its state in /data, is healthy, and ends within a second of its signal',
    async () => {
      const ports = ['--port', '0', '--control-port', '0', '--json'];
      const child = start([...config.Entrypoint, ...config.Cmd, ...ports]);
      const exit = once(child, 'exit');
      const [line] = await once(createInterface(child.stdout), 'line');
      const { controlUrl }: ServerReady = JSON.parse(line);
      const { port } = new URL(controlUrl);
      expect(dockerfile).toContain('127.0.0.1:8081/ready');
      const [, ...check] = config.Healthcheck.Test.map((word) =>
        word.replace(':8081/', `:${port}/`),
      );
      expect(await outputOf(...check)).toMatchObject({ code: 0, stderr: '' });
      expect(config.StopSignal).toBe('SIGTERM');
      const startedMs = systemClock.monotonicMs();
      child.kill('SIGTERM');
      expect(await exit).toEqual([0, null]);
      expect(systemClock.monotonicMs() - startedMs).toBeLessThan(END_MAX_MS);
      expect(await outputOf(...check)).toMatchObject({ code: 1 });
    },
    START_MAX_MS,
  );
});
