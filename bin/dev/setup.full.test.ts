import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const SKIP_MAX_MS = 1000;
const scripts = ['build.mjs', 'bundle.mjs', 'notices.mjs', 'pages.mjs', 'setup.mjs'];
const building = 'set-up: building the command\n';

/** A fresh clone of a project with our set-up, our TypeScript and two small sources. */
let clone: string;

const filePath = (...names: string[]) => join(clone, ...names);
const put = (file: string, text: string) => {
  mkdirSync(dirname(filePath(file)), { recursive: true });
  writeFileSync(filePath(file), text);
};
const json = (file: string, value: unknown) => put(file, JSON.stringify(value));

/** Its only packages are local ones that lead to our own, so that no registry is asked. */
function writeLock(description = 'first'): void {
  const devDependencies = {
    rolldown: 'file:vendor/rolldown',
    'typescript-native': 'file:vendor/typescript-native',
  };
  const manifest = { name: 'fleetbed', version: '0.0.0', description, type: 'module' };
  const testbed = { types: './dist/bin/exports/testbed.d.ts', default: './dist/server/testbed.js' };
  json('package.json', {
    ...manifest,
    devDependencies,
    bin: { fleetbed: 'dist/bin/fleetbed.js' },
    exports: { '.': testbed },
  });
  json('package-lock.json', {
    name: 'fleetbed',
    version: '0.0.0',
    lockfileVersion: 3,
    requires: true,
    description,
    packages: {
      '': { name: 'fleetbed', version: '0.0.0', devDependencies },
      'node_modules/rolldown': { resolved: 'vendor/rolldown', link: true },
      'node_modules/typescript-native': { resolved: 'vendor/typescript-native', link: true },
      'vendor/rolldown': { version: '1.0.0', dev: true },
      'vendor/typescript-native': { version: '1.0.0', dev: true },
    },
  });
  json('vendor/typescript-native/package.json', { name: 'typescript-native', type: 'module' });
  const bundler = join(root, 'node_modules', 'rolldown', 'dist', 'index.mjs');
  const exports = { '.': './index.js', './utils': './utils.js' };
  json('vendor/rolldown/package.json', { name: 'rolldown', type: 'module', exports });
  put('vendor/rolldown/index.js', `export * from ${JSON.stringify(bundler)};\n`);
  const utils = bundler.replace('index.mjs', 'utils-index.mjs');
  put('vendor/rolldown/utils.js', `export * from ${JSON.stringify(utils)};\n`);
  const compiler = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc');
  put('vendor/typescript-native/bin/tsc', `import ${JSON.stringify(compiler)};\n`);
}

/** A clone that has been set up once, from which others are copied. */
let prepared: string;

function freshClone(): void {
  clone = mkdtempSync(join(tmpdir(), 'fleetbed-clone-'));
  writeLock();
  json('tsconfig.json', {
    compilerOptions: {
      target: 'ES2023',
      module: 'NodeNext',
      types: [],
      outDir: 'build/types',
      rootDir: '.',
      composite: true,
      tsBuildInfoFile: 'build/types/.tsbuildinfo',
      emitDeclarationOnly: true,
      rewriteRelativeImportExtensions: true,
    },
    include: ['bin', 'fixtures', 'server', 'simulator'],
  });
  put('bin/fleetbed.ts', "#!/usr/bin/env node\nimport '../fixtures/words.ts';\n");
  put(
    'fixtures/words.ts',
    'declare const console: { log(text: string): void };\nconsole.log("one");\nexport {};\n',
  );
  put('fixtures/vectors/deep/sample.mender', 'bytes');
  put('bin/exports/testbed.ts', 'export const testbed = 1;\n');
  for (const name of scripts) cpSync(join(root, 'bin/dev', name), filePath('bin/dev', name));
}

/** Replaces the fresh clone with one that is already set up. */
function takePreparedClone(): void {
  cpSync(prepared, clone, { recursive: true, verbatimSymlinks: true });
}

beforeAll(async () => {
  freshClone();
  prepared = clone;
  const { code, stderr } = await setUp();
  expect(code, stderr).toBe(0);
}, 60_000);

afterAll(() => rmSync(prepared, { recursive: true, force: true }));

beforeEach(freshClone);

afterEach(() => rmSync(clone, { recursive: true, force: true }));

/** Runs a program in the clone to its end. */
function run(program: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const child = spawn(program, args, { cwd: clone, env: { ...process.env, ...environment } });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

const setUp = (args: readonly string[] = [], environment: NodeJS.ProcessEnv = {}) =>
  run(process.execPath, ['bin/dev/setup.mjs', ...args], {
    npm_execpath: '',
    CI: '',
    ...environment,
  });

/** Returns the output of the built command. */
const built = async () =>
  (await run(process.execPath, [filePath('dist/bin/fleetbed.js')])).stdout.trim();

describe('the set-up of a fresh clone', { timeout: 60_000 }, () => {
  it('installs, builds, copies required files, and repeats no finished step', async () => {
    const first = await setUp();
    expect(first.code, first.stderr).toBe(0);
    expect(first.stdout).toBe('');
    expect(first.stderr).toMatch(/set-up: installing .*\n(.*\n)*set-up: building/);
    expect(await built()).toBe('one');
    expect(readFileSync(filePath('dist/fixtures/vectors/deep/sample.mender'), 'utf8')).toBe(
      'bytes',
    );
    expect(statSync(filePath('dist/bin/fleetbed.js')).mode & 0o111).toBe(0o111);
    const startedMs = systemClock.monotonicMs();
    const second = await setUp();
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(SKIP_MAX_MS);
    expect(second).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('makes `npx fleetbed` run the command of the clone', async () => {
    takePreparedClone();
    const { code, stdout } = await run('npx', ['fleetbed'], { npm_config_offline: 'true' });
    expect({ code, stdout: stdout.trim() }).toEqual({ code: 0, stdout: 'one' });
  });

  it('rebuilds when a source has changed, and removes the output of deleted ones', async () => {
    takePreparedClone();
    put('fixtures/old.ts', 'export const old = 1;\n');
    put('fixtures/vectors/old.json', '{}');
    await setUp();
    expect(existsSync(filePath('build/fixtures/old.js'))).toBe(true);
    rmSync(filePath('fixtures/old.ts'));
    rmSync(filePath('fixtures/vectors/old.json'));
    put(
      'fixtures/words.ts',
      readFileSync(filePath('fixtures/words.ts'), 'utf8').replace('one', 'two'),
    );
    const again = await setUp();
    expect(again.stderr).toBe(building);
    expect(await built()).toBe('two');
    for (const gone of ['old.js', 'vectors/old.json']) {
      expect(existsSync(filePath('build/fixtures', gone)), gone).toBe(false);
    }
  });

  it('installs again when the lock file has changed', async () => {
    takePreparedClone();
    put('node_modules/left-over/package.json', '{}');
    writeLock('second');
    const again = await setUp();
    expect(again.stderr).toContain('installing');
    expect(existsSync(filePath('node_modules/left-over'))).toBe(false);
    expect(await built()).toBe('one');
  });

  it('rebuilds when the built folder is missing or incomplete', async () => {
    takePreparedClone();
    rmSync(filePath('build/.stamp'));
    rmSync(filePath('build/fixtures'), { recursive: true });
    expect((await setUp()).stderr).toBe(building);
    expect(await built()).toBe('one');
  });

  it('survives two runs at once', async () => {
    const [one, other] = await Promise.all([setUp(), setUp()]);
    expect([one.code, other.code]).toEqual([0, 0]);
    const said = one.stderr + other.stderr;
    expect(said.match(/set-up: building the command/g)).toHaveLength(1);
    expect(said).toContain('waiting for another set-up');
    expect(await built()).toBe('one');
  });
});

describe('the check of types in a set-up', { timeout: 60_000 }, () => {
  beforeEach(takePreparedClone);

  it('writes the declarations once for each state of the sources', async () => {
    expect(existsSync(filePath('dist/bin/exports/testbed.d.ts'))).toBe(false);
    expect((await setUp(['--types'])).stderr).toBe('set-up: checking the types\n');
    expect(readFileSync(filePath('dist/bin/exports/testbed.d.ts'), 'utf8')).toContain(
      'testbed = 1',
    );
    expect(await setUp(['--types'])).toEqual({ code: 0, stdout: '', stderr: '' });
    put('fixtures/words.test.ts', 'export const word: string = "";\n');
    expect((await setUp(['--types'])).stderr).toBe('set-up: checking the types\n');
  });

  it('fails with the place of an error, and leaves a working command', async () => {
    put('fixtures/more.ts', 'export const broken: number = "text";\n');
    expect((await setUp()).code).toBe(0);
    expect(await built()).toBe('one');
    for (const attempt of ['first', 'second']) {
      const { code, stderr } = await setUp(['--types']);
      expect(code, attempt).toBe(1);
      expect(stderr).toContain('fixtures/more.ts');
      expect(stderr).toMatch(/set-up: the types are wrong .*names the places\n$/);
    }
  });
});

describe('a set-up that fails', { timeout: 60_000 }, () => {
  it('reports a failed build, and builds again next time', async () => {
    put('fixtures/words.ts', 'export const broken = ;\n');
    for (const attempt of ['first', 'second']) {
      const { code, stderr } = await setUp();
      expect(code, attempt).toBe(1);
      expect(stderr).toMatch(/set-up: the build failed: fixtures\/words\.ts: /);
    }
  });

  it('reports a failure of npm', async () => {
    put('package-lock.json', '{}');
    const { code, stderr } = await setUp();
    expect(code).toBe(1);
    expect(stderr).toMatch(/set-up: npm could not install the packages .*run this again\n$/);
  });

  it('reports that npm is missing', async () => {
    const { code, stderr } = await setUp([], { PATH: filePath('nowhere') });
    expect(code).toBe(1);
    expect(stderr).toMatch(/npm could not install the packages/);
  });

  it.each(['18.20.0', '20.18.3'])(
    'refuses Node %s and names the required version',
    async (version) => {
      const planted = `Object.defineProperty(process.versions, 'node', { value: '${version}' });`;
      const { code, stderr } = await setUp([], {
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(planted)}`,
      });
      expect(code).toBe(1);
      expect(stderr).toMatch(`set-up: this is Node ${version}; Fleetbed needs 20.19 or newer`);
      expect(existsSync(filePath('node_modules'))).toBe(false);
    },
  );
});

describe('the search for a browser', { timeout: 60_000 }, () => {
  it('accepts an installed browser', async () => {
    takePreparedClone();
    const there = await setUp(['--browser'], { CHROMIUM_PATH: process.execPath, CI: '1' });
    expect(there).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('explains how to install a browser, and fails in CI where one is required', async () => {
    takePreparedClone();
    const missing = { CHROMIUM_PATH: filePath('no-chromium') };
    const here = await setUp(['--browser'], missing);
    expect(here.code).toBe(0);
    expect(here.stderr).toMatch(
      /no chromium at .*: the browser tests are skipped; .*apt-get install chromium.*CHROMIUM_PATH/,
    );
    const inCi = { ...missing, CI: 'true' };
    expect((await setUp(['--browser'], inCi)).code).toBe(0);
    expect((await setUp(['--browser', '--required-in-ci'], inCi)).code).toBe(1);
  });
});

describe('the search for field clients', { timeout: 60_000 }, () => {
  const programs = ['mender', 'mender-connect', 'mender-artifact', 'dbus-daemon'];
  const unpackedPath = (name = '') => filePath('.fleetbed/field-clients', name);
  /** An environment that hides all programs installed on the machine. */
  const search = (environment: NodeJS.ProcessEnv = {}) =>
    setUp(['--field-clients', '--required-in-ci'], { PATH: filePath('programs'), ...environment });

  /** Replaces a program of the machine with one that records its arguments. */
  function stand(program: string, script: string): void {
    const lines = ['#!/bin/sh', `echo "$*" >> "${filePath('calls')}"`, script, ''];
    put(`programs/${program}`, lines.join('\n'));
    chmodSync(filePath('programs', program), 0o755);
  }

  const calls = () => readFileSync(filePath('calls'), 'utf8').trimEnd().split('\n');
  const download =
    'for w; do case $w in *archives=*) IFS==; set -- $w; : > "$2/clients.deb" ;; esac; done';
  const unpack = `/bin/mkdir -p "$3/usr/bin"; cd "$3/usr/bin"; for p in ${programs.join(' ')}; do : > $p; done`;

  beforeEach(takePreparedClone);

  it('accepts installed clients', async () => {
    for (const program of programs.slice(1)) put(`programs/${program}`, '');
    put('.fleetbed/field-clients/usr/bin/mender', '');
    expect(await search({ CI: '1' })).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it("unpacks Debian's packages into the project, and repeats no finished step", async () => {
    stand('apt-get', download);
    stand('dpkg-deb', unpack);
    const first = await search({ CI: '1' });
    expect(first).toMatchObject({ code: 0, stdout: '' });
    expect(first.stderr).toMatch(
      /^set-up: unpacking Debian's mender-client, mender-connect, .*\n$/,
    );
    expect(readdirSync(unpackedPath('usr/bin')).sort()).toEqual(programs.toSorted());
    expect(readdirSync(filePath('.fleetbed'))).toEqual(['field-clients']);
    const [downloading, ...rest] = calls();
    expect(downloading).toMatch(
      / install .*--download-only --no-install-recommends mender-client /,
    );
    expect(rest).toEqual([expect.stringMatching(/^--extract .*clients\.deb /)]);
    expect(await search({ CI: '1' })).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it("fetches its own package lists when the machine's are unusable", async () => {
    stand(
      'apt-get',
      `case "$*" in *" update") exit 0 ;; *State::lists=*) ;; *) exit 100 ;; esac\n${download}`,
    );
    stand('dpkg-deb', unpack);
    const { code, stderr } = await search({ CI: '1' });
    expect(code, stderr).toBe(0);
    expect(calls().map((args) => / (install|update)\b/.exec(args)?.[1])).toEqual([
      'install',
      'update',
      'install',
      undefined,
    ]);
  });

  it.each([
    ['there is no apt-get', () => undefined],
    ['apt-get fails', () => stand('apt-get', 'exit 100')],
    [
      'a package cannot be unpacked',
      () => {
        stand('apt-get', download);
        stand('dpkg-deb', `${unpack}; exit 2`);
      },
    ],
    [
      'the packages do not hold the programs',
      () => {
        stand('apt-get', download);
        stand('dpkg-deb', '/bin/mkdir -p "$3"');
      },
    ],
  ])('explains how to get clients, and fails in CI that requires them: %s', async (_, prepare) => {
    prepare();
    const here = await search();
    expect(here.code).toBe(0);
    expect(here.stderr).toMatch(
      /set-up: no mender, mender-connect, mender-artifact, dbus-daemon: .*\(mender-client mender-connect mender-artifact dbus-daemon\), .* run this again\n$/,
    );
    const inCi = await search({ CI: 'true' });
    expect(inCi.code).toBe(1);
    expect(inCi.stderr).toMatch(/set-up: CI requires the field clients\n$/);
    expect(existsSync(unpackedPath('usr'))).toBe(false);
  });
});

describe("the search for libcurl's headers", { timeout: 60_000 }, () => {
  beforeEach(takePreparedClone);

  it('accepts headers that were unpacked before, and runs no program', async () => {
    put('.fleetbed/libcurl/usr/include/x86_64-linux-gnu/curl/curl.h', '');
    const options = ['--libcurl', '--required-in-ci'];
    const found = await setUp(options, { PATH: filePath('programs'), CI: '1' });
    expect(found).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

describe('the search for a Redis', { timeout: 60_000 }, () => {
  const search = (environment: NodeJS.ProcessEnv = {}) =>
    setUp(['--redis', '--required-in-ci'], {
      PATH: filePath('programs'),
      REDIS_SERVER_PATH: '',
      ...environment,
    });
  const stand = (program: string, script: string) => {
    put(`programs/${program}`, `#!/bin/sh\n${script}\n`);
    chmodSync(filePath('programs', program), 0o755);
  };
  const download =
    'for w; do case $w in *archives=*) IFS==; set -- $w; : > "$2/redis.deb" ;; esac; done';

  beforeEach(takePreparedClone);

  it.each([
    ['the machine has', 'programs/redis-server', {}],
    ['was unpacked before', '.fleetbed/redis/usr/bin/redis-server', {}],
    ['is named', 'programs/mine', { REDIS_SERVER_PATH: 'programs/mine' }],
  ])('accepts a Redis that %s', async (_, file, environment) => {
    put(file, '');
    expect(await search({ CI: '1', ...environment })).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it("unpacks Debian's packages, starts no service, and repeats no finished step", async () => {
    stand('apt-get', download);
    stand('dpkg-deb', '/bin/mkdir -p "$3/usr/bin"; : > "$3/usr/bin/redis-server"');
    const first = await search({ CI: '1' });
    expect(first.code, first.stderr).toBe(0);
    expect(first.stderr).toMatch(/^set-up: unpacking Debian's redis-tools, redis-server .*\n$/);
    expect(await search({ CI: '1' })).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it.each([
    [
      'there is none to be had',
      {},
      /no redis-server: .*apt-get install redis-server.*set REDIS_SERVER_PATH/,
    ],
    ['the named one is not there', { REDIS_SERVER_PATH: 'gone' }, /no gone: .*REDIS_SERVER_PATH/],
  ])(
    'explains how to install Redis, and fails in CI where it is required, when %s',
    async (_, environment, sentence) => {
      const here = await search(environment);
      expect(here.code).toBe(0);
      expect(here.stderr).toMatch(sentence);
      const inCi = await search({ ...environment, CI: 'true' });
      expect(inCi.code).toBe(1);
      expect(inCi.stderr).toMatch(/CI requires a Redis\n$/);
    },
  );
});
