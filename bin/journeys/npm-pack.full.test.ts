import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const INSTALL_MAX_MS = 300_000;
const COMMAND_MAX_MS = 180_000;
const root = fileURLToPath(new URL('../..', import.meta.url));
const password = 'a-long-password';

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
}

interface Locked {
  readonly dev?: boolean;
}

/** An empty folder, into which the package is installed. */
let folder: string;
/** The paths of the files in the package. */
let files: readonly string[];

const at = (...names: string[]) => join(folder, ...names);
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

function run(program: string, ...words: readonly string[]) {
  const env = { ...process.env, FLEETBED_PASSWORD: password, FLEETBED_ADMIN_PASSWORD: password };
  return promisify(execFile)(program, words, { cwd: folder, timeout: INSTALL_MAX_MS, env });
}

/**
 * Writes a project that depends only on the package. Its lock file is ours without our development
 * packages, so npm finds packages in the cache of the clone's installation; it requests missing
 * packages from the registry.
 */
function writeProject(archive: string): void {
  const { version, dependencies, bin }: Manifest = readJson(join(root, 'package.json'));
  const resolved = `file:${archive}`;
  const manifest = { name: 'empty', version: '1.0.0', type: 'module' };
  const project = { ...manifest, dependencies: { fleetbed: resolved } };
  const digest = createHash('sha512')
    .update(readFileSync(at(archive)))
    .digest('base64');
  const installed = { version, resolved, integrity: `sha512-${digest}`, dependencies, bin };
  const locked: Readonly<Record<string, Locked>> = readJson(
    join(root, 'package-lock.json'),
  ).packages;
  const needed = Object.entries(locked).filter(([path, { dev }]) => path !== '' && !dev);
  const packages = {
    '': project,
    'node_modules/fleetbed': installed,
    ...Object.fromEntries(needed),
  };
  writeFileSync(at('package.json'), JSON.stringify(project));
  writeFileSync(
    at('package-lock.json'),
    JSON.stringify({ ...manifest, lockfileVersion: 3, requires: true, packages }),
  );
}

beforeAll(async () => {
  if (!existsSync(join(root, 'dist', 'bin', 'fleetbed.js'))) {
    throw new Error('there is no built command: npm run build');
  }
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-pack-'));
  const words = ['pack', root, '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', ...words);
  const [packed] = JSON.parse(stdout);
  files = packed.files.map(({ path }: { path: string }) => path);
  writeProject(packed.filename);
  await run('npm', 'ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error');
}, INSTALL_MAX_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }), COMMAND_MAX_MS);

describe('the npm package', () => {
  it('contains the build, but no tests, source maps and tools of the clone', () => {
    const foreign =
      /\.test\.|\.map$|tsbuildinfo|(?<!\.d)\.ts$|\/(testing|bench|soak|field-clients)\//;
    expect(files.filter((file) => foreign.test(file))).toEqual([]);
    // The README links to it; every other file whose name starts with a dot is of the clone.
    expect(files.filter((file) => file.startsWith('.'))).toEqual(['.github/CONTRIBUTING.md']);
    for (const file of ['README.md', 'LICENSE', 'server/guide.md', 'bin/guide.md']) {
      expect(files).toContain(file);
    }
  });

  it('installs no development dependencies', () => {
    const installed = readdirSync(at('node_modules'));
    expect(installed).toContain('fleetbed');
    for (const tool of ['vitest', 'typescript', 'playwright']) {
      expect(installed).not.toContain(tool);
    }
    // These packages are part of the bundle.
    for (const bundled of ['express', 'ws', 'commander', 'yaml', 'tweetnacl', 'sql.js']) {
      expect(installed).not.toContain(bundled);
    }
  });
});

describe('the installed npm package', () => {
  it('provides a command that shows its help', async () => {
    const { stdout } = await run('npx', '--no-install', 'fleetbed', '--help');
    expect(stdout).toMatch(/^Usage: fleetbed /);
  });

  it(
    'serves, tests and simulates, and writes every kind of HTML page',
    async () => {
      const program = at('node_modules', '.bin', 'fleetbed');
      const words = ['serve', '--auto-accept', '--port', '0', '--control-port', '0', '--json'];
      const server = spawn(program, [...words, '--log-level', 'error'], {
        cwd: folder,
        env: { ...process.env, FLEETBED_ADMIN_PASSWORD: password },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const exit = once(server, 'exit');
      try {
        const [line] = await once(createInterface(server.stdout), 'line');
        const { baseUrl, controlUrl } = JSON.parse(line);
        const page = await fetch(`${controlUrl}/`);
        expect([page.status, page.headers.get('content-type')]).toEqual([
          200,
          expect.stringContaining('text/html'),
        ]);
        const one = ['authentication/first-contact-is-401', '--url', baseUrl];
        const judged = await run(program, 'conform', ...one, '--report', 'html=verdicts.html');
        expect(judged.stdout).toContain('pass');
        const fleet = ['--url', baseUrl, '--devices', '2', '--iterations', '3', '--poll', '300ms'];
        await run(program, 'simulate', ...fleet, '--drain', '0s', '--report', 'html=fleet.html');
        for (const report of ['verdicts.html', 'fleet.html']) {
          expect(readFileSync(at(report), 'utf8')).toMatch(/^<!doctype html>/i);
        }
      } finally {
        server.kill();
        expect(await exit).toEqual([0, null]);
      }
    },
    COMMAND_MAX_MS,
  );

  it(
    'can be imported to start a server, with types for the strictest settings',
    async () => {
      const source = `import { startTestbed } from 'fleetbed';
import type { Behaviour } from 'fleetbed/behaviours';
type IsAny<T> = 0 extends 1 & T ? true : false;
export const isUntyped: readonly [IsAny<Behaviour>, IsAny<typeof startTestbed>] = [false, false];
const testbed = await startTestbed({ autoAccept: true });
const { body } = await testbed.admin.call('count-devices', {});
const count: number = body.count;
process.stdout.write(String(count));
await testbed.close();
`;
      const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false };
      const compilerOptions = { target: 'es2023', module: 'nodenext', types: ['node'], ...strict };
      writeFileSync(at('tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
      writeFileSync(at('use.ts'), source);
      await run(process.execPath, join(root, 'node_modules/typescript/lib/tsc.js'), '-p', folder);
      expect((await run(process.execPath, 'use.js')).stdout).toBe('0');
    },
    COMMAND_MAX_MS,
  );
});
