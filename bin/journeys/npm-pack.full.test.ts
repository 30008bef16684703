import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import type { ServerReady } from '../server-access/ready.ts';
import {
  INSTALL_MAX_MS,
  type InstalledPackage,
  installPackage,
  packagesIn,
} from '../testing/installed-package.ts';
import { startRedis } from '../testing/redis-server.ts';
import { testTools } from '../testing/test-tools.ts';

const COMMAND_MAX_MS = 180_000;
const ARCHIVE_MAX_BYTES = 3_000_000;
const PACKAGES_MAX = 60;
const START_ROUNDS = 3;
const FIRST_LINE_MAX_MS = 3000;
/** The start of Node alone on two quiet cores of the machine of the benchmarks. */
const BARE_NODE_MS = 69;
const password = 'a-long-password';
const secret = 'a-secret-of-coordinator-and-workers';

let installed: InstalledPackage;

beforeAll(async () => {
  installed = await installPackage();
}, INSTALL_MAX_MS);

afterAll(() => installed.close(), COMMAND_MAX_MS);

const isIgnored = (resolution: string) => ['node10', 'node16-cjs'].includes(resolution);

describe('the npm package', () => {
  it('contains the build, but no tests, source maps and tools of the clone', () => {
    const { files } = installed.archive;
    const foreign =
      /\.test\.|\.map$|tsbuildinfo|(?<!\.d)\.ts$|\/(testing|bench|soak|field-clients)\//;
    expect(files.filter((file) => foreign.test(file))).toEqual([]);
    // The README links to it; every other file whose name starts with a dot is of the clone.
    expect(files.filter((file) => file.startsWith('.'))).toEqual(['.github/CONTRIBUTING.md']);
    for (const file of [
      'README.md',
      'LICENSE',
      'bin/guide.md',
      'fixtures/example-clients/client.py',
    ]) {
      expect(files).toContain(file);
    }
  });

  it('contains the licence of each package whose code is part of it', () => {
    const file = 'node_modules/fleetbed/dist/third-party-licences.txt';
    const text = readFileSync(join(installed.folder, file), 'utf8');
    for (const name of ['express', 'ws', 'commander', 'preact', 'uplot', '@xterm/xterm']) {
      expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+: MIT$`, 'm'));
    }
    expect(text).not.toContain('undefined');
  });

  it('has at most 3 MB and installs at most 60 packages', () => {
    expect(installed.archive.bytes).toBeLessThan(ARCHIVE_MAX_BYTES);
    const packages = packagesIn(join(installed.folder, 'node_modules'));
    expect(packages).toContain('fleetbed');
    expect(packages).toContain('libsql');
    expect(packages.length).toBeLessThanOrEqual(PACKAGES_MAX);
    for (const tool of ['vitest', 'typescript', 'playwright']) expect(packages).not.toContain(tool);
    // These packages are part of the bundle.
    for (const bundled of ['express', 'ws', 'commander', 'yaml', 'tweetnacl', 'sql.js']) {
      expect(packages).not.toContain(bundled);
    }
  });

  it('has a manifest and files that publint accepts', async () => {
    const { path } = installed.archive;
    const tarball = Uint8Array.from(readFileSync(path)).buffer;
    const { messages } = await publint({ pack: { tarball }, strict: true });
    expect(messages).toEqual([]);
  });

  it('has types that resolve as ES modules for Node and bundlers', {
    timeout: COMMAND_MAX_MS,
  }, async () => {
    const archive = createPackageFromTarballData(readFileSync(installed.archive.path));
    const analysis = await checkPackage(archive);
    if (!analysis.types) throw new Error('the package has no types');
    const { entrypoints, problems } = analysis;
    expect(Object.keys(entrypoints)).toEqual(expect.arrayContaining(['.', './vitest']));
    // Like `attw --profile esm-only`: the package is not CommonJS, and `require` loads ES modules.
    const judged = problems.filter(
      (problem) => !('resolutionKind' in problem && isIgnored(problem.resolutionKind)),
    );
    expect(judged).toEqual([]);
  });
});

describe('the installed npm package', () => {
  let program: string;
  let server: ChildProcessByStdio<null, Readable, null>;
  let ready: ServerReady;

  const start = (...args: readonly string[]) =>
    spawn(program, args, {
      cwd: installed.folder,
      env: { ...process.env, FLEETBED_ADMIN_PASSWORD: password, FLEETBED_PASSWORD: password },
      stdio: ['ignore', 'pipe', 'inherit'],
    });

  /** Starts a program, returns the time to its first output on standard error, and ends it. */
  async function firstOutputMs(command: string, args: readonly string[]): Promise<number> {
    const startedMs = systemClock.monotonicMs();
    const { folder: cwd } = installed;
    const child = spawn(command, args, {
      cwd,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const exit = once(child, 'exit');
    await once(child.stderr, 'data');
    const tookMs = systemClock.monotonicMs() - startedMs;
    // The group also has the process that npx starts.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGINT');
    child.stderr.resume();
    await exit;
    return tookMs;
  }

  beforeAll(async () => {
    program = join(installed.folder, 'node_modules', '.bin', 'fleetbed');
    const ports = ['--port', '0', '--control-port', '0', '--log-level', 'error'];
    server = start('serve', '--auto-accept', ...ports, '--data', 'data', '--json');
    const [line] = await once(createInterface(server.stdout), 'line');
    ready = JSON.parse(line);
  }, COMMAND_MAX_MS);

  afterAll(async () => {
    const exit = once(server, 'exit');
    server.kill();
    expect(await exit).toEqual([0, null]);
  });

  it('provides a command that shows its help', async () => {
    const { stdout } = await installed.run('npx', '--no-install', 'fleetbed', '--help');
    expect(stdout).toMatch(/^Usage: fleetbed /);
  });

  it('prints the first line of npx fleetbed demo within 3 s on a quiet machine', {
    timeout: COMMAND_MAX_MS,
  }, async () => {
    const bareMs: number[] = [];
    const demoMs: number[] = [];
    for (let round = 0; round < START_ROUNDS; round++) {
      bareMs.push(await firstOutputMs(process.execPath, ['-e', 'console.error()']));
      demoMs.push(await firstOutputMs('npx', ['--no-install', 'fleetbed', 'demo', '--exit']));
    }
    // A busy machine delays Node alone as much.
    expect(Math.min(...demoMs) / Math.min(...bareMs)).toBeLessThan(
      FIRST_LINE_MAX_MS / BARE_NODE_MS,
    );
  });

  it('serves from a data folder, with the console', async () => {
    const page = await fetch(`${ready.controlUrl}/`);
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/html'),
    ]);
    expect(existsSync(join(installed.folder, 'data'))).toBe(true);
  });

  it(
    'tests a server and runs a fleet on two processes, with HTML reports',
    async () => {
      const { folder, run } = installed;
      const at = ['--url', ready.baseUrl];
      const one = ['authentication/first-contact-is-401', ...at, '--password', password];
      const judged = await run(program, 'conform', ...one, '--report', 'html=verdicts.html');
      expect(judged.stdout).toContain('pass');
      const fleet = ['--devices', '2', '--iterations', '3', '--poll', '300ms', '--drain', '0s'];
      const reports = ['--processes', '2', '--report', 'html=fleet.html'];
      await run(program, 'simulate', ...at, ...fleet, ...reports);
      for (const report of ['verdicts.html', 'fleet.html']) {
        expect(readFileSync(join(folder, report), 'utf8')).toMatch(/^<!doctype html>/i);
      }
    },
    COMMAND_MAX_MS,
  );

  it.skipIf(!testTools.Redis?.isThere)(
    'runs a fleet on a worker that it reaches by Redis',
    async () => {
      const redis = await startRedis(password);
      const shared = ['--url', ready.baseUrl, '--redis', redis.url, '--worker-secret', secret];
      const worker = start('worker', ...shared);
      try {
        const fleet = ['--devices', '2', '--iterations', '2', '--poll', '300ms', '--drain', '0s'];
        const args = ['simulate', ...shared, ...fleet, '--shards', '2', '--json'];
        const result = JSON.parse((await installed.run(program, ...args)).stdout);
        expect(result.shards).toHaveLength(2);
      } finally {
        worker.kill('SIGKILL');
        await redis.kill();
      }
    },
    COMMAND_MAX_MS,
  );
});
