import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  exportedModules,
  INSTALL_MAX_MS,
  type InstalledPackage,
  installPackage,
  type PackedArchive,
  packInto,
} from '../testing/installed-package.ts';
import { reachesRegistry } from '../testing/registry.ts';

let folder: string;
let archive: PackedArchive;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-managers-'));
  archive = await packInto(folder);
}, INSTALL_MAX_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

/** Starts a server with a data folder, which needs the package's native dependency. */
const program = `
import { startTestbed } from 'fleetbed';
import { operations } from 'fleetbed/contract';
const testbed = await startTestbed({ dataFolder: 'data' });
console.log((await testbed.admin.call('count-devices')).body.count, Object.keys(operations).length);
await testbed.close();
`;

interface Manager {
  /** The program that npm runs, with its version. */
  readonly manager: string;
  readonly add: readonly string[];
  /** Runs a program of Node with the packages of the project. */
  readonly node: readonly string[];
  /** Runs a command of an installed package. */
  readonly exec: readonly string[];
  readonly settings?: string;
}

const managers: readonly Manager[] = [
  { manager: 'pnpm@10', add: ['add'], node: ['exec', 'node'], exec: ['exec'] },
  {
    manager: '@yarnpkg/cli-dist@4',
    add: ['add'],
    node: ['node'],
    exec: ['run'],
    settings: 'enableGlobalCache: true\nenableTelemetry: false\n',
  },
];

const isReached = reachesRegistry('the package with pnpm, yarn, Node 22 and Node 24');

describe.skipIf(!isReached)('the npm package installed by another package manager', () => {
  it.each(managers)(
    'runs its command and its server: $manager',
    async ({ manager, add, node, exec, settings }) => {
      const project = join(folder, manager.replaceAll('/', '-'));
      mkdirSync(project);
      const put = (name: string, text: string) => writeFileSync(join(project, name), text);
      put('package.json', JSON.stringify({ name: 'empty', version: '1.0.0', type: 'module' }));
      put('yarn.lock', '');
      put('.yarnrc.yml', settings ?? '');
      put('use.js', program);
      const name = manager.startsWith('pnpm') ? 'pnpm' : 'yarn';
      const run = async (...args: readonly string[]) => {
        const npx = ['exec', '--yes', `--package=${manager}`, '--', name, ...args];
        const options = { cwd: project, timeout: INSTALL_MAX_MS, env: { ...process.env, CI: '' } };
        return (await promisify(execFile)('npm', npx, options)).stdout;
      };
      await run(...add, `fleetbed@file:${archive.path}`);
      expect(await run(...exec, 'fleetbed', '--help')).toMatch(/^Usage: fleetbed /m);
      expect(await run(...node, 'use.js')).toMatch(/^0 20$/m);
    },
    INSTALL_MAX_MS * 2,
  );
});

describe.skipIf(!isReached)('the npm package on another version of Node', () => {
  let installed: InstalledPackage;

  beforeAll(async () => {
    installed = await installPackage();
    installed.write('use.js', program);
    const modules = exportedModules.filter((module) => module !== 'fleetbed/vitest');
    installed.write('require.cjs', modules.map((module) => `require('${module}');\n`).join(''));
  }, INSTALL_MAX_MS);

  afterAll(() => installed.close());

  it.each(['node@22', 'node@24'])(
    'runs its server, its modules and its demo: %s',
    async (version) => {
      const node = (...args: readonly string[]) =>
        installed.run('npm', 'exec', '--yes', `--package=${version}`, '--', 'node', ...args);
      expect((await node('--version')).stdout).toContain(version.replace('node@', 'v'));
      expect((await node('use.js')).stdout).toBe('0 20\n');
      expect((await node('require.cjs')).stdout).toBe('');
      const { stdout } = await node('node_modules/fleetbed/dist/bin/fleetbed.js', 'demo', '--exit');
      expect(stdout).toContain('Suite: pass');
    },
    INSTALL_MAX_MS,
  );
});
