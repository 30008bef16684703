/** Packs the package and installs it in an empty folder, as a user of the registry gets it. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Time limit of the installation, and of each command in the folder. */
export const INSTALL_MAX_MS = 300_000;

/** The folder of the project. */
const root = fileURLToPath(new URL('../..', import.meta.url));

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
}

interface LockedPackage {
  readonly dev?: boolean;
}

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

/** The manifest of the project. */
export const manifest: Manifest = readJson(join(root, 'package.json'));

/** The module specifiers of all exported modules, such as `fleetbed/simulator`. */
export const exportedModules: readonly string[] = Object.entries(manifest.exports)
  .filter(([, target]) => typeof target !== 'string')
  .map(([path]) => `fleetbed${path.slice(1)}`);

/** The archive that npm would publish. */
export interface PackedArchive {
  readonly path: string;
  readonly bytes: number;
  /** Paths of the files in the archive. */
  readonly files: readonly string[];
}

/** A project in a temporary folder that depends on nothing but the package. */
export interface InstalledPackage {
  readonly folder: string;
  readonly archive: PackedArchive;
  /** Runs a program in the folder. Rejects when it fails. */
  run(program: string, ...args: readonly string[]): Promise<{ stdout: string; stderr: string }>;
  /** Writes a file of the project and returns its path. */
  write(name: string, text: string): string;
  /** Makes packages of the clone's `node_modules` importable in the project. */
  link(...packages: readonly string[]): void;
  close(): void;
}

/** Packs the built package into a folder, without building it again. */
export async function packInto(folder: string): Promise<PackedArchive> {
  // A build without declarations has the modules, but not these.
  if (!existsSync(join(root, 'dist', 'bin', 'exports', 'vitest.d.ts'))) {
    throw new Error('the package is not built with its declarations: npm run build');
  }
  const args = ['pack', root, '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)('npm', args, { timeout: INSTALL_MAX_MS });
  const [{ filename, size, files }] = JSON.parse(stdout);
  const paths = files.map(({ path }: { path: string }) => path);
  return { path: join(folder, filename), bytes: size, files: paths };
}

/** Packs the package and installs it by npm. */
export async function installPackage(): Promise<InstalledPackage> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetbed-pack-'));
  const filePath = (name: string) => join(folder, name);
  const write = (name: string, text: string): string => {
    writeFileSync(filePath(name), text);
    return filePath(name);
  };
  const run = (program: string, ...args: readonly string[]) =>
    promisify(execFile)(program, args, {
      cwd: folder,
      timeout: INSTALL_MAX_MS,
      env: { ...process.env, NODE_OPTIONS: '' },
    });
  const archive = await packInto(folder);
  for (const [name, content] of Object.entries(projectOf(archive))) {
    write(name, JSON.stringify(content));
  }
  await run('npm', 'ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error');
  const link = (...packages: readonly string[]): void => {
    for (const name of packages) {
      symlinkSync(join(root, 'node_modules', name), filePath(join('node_modules', name)));
    }
  };
  const close = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  return { folder, archive, run, write, link, close };
}

/** Returns the names of the packages in a `node_modules` folder, at every depth. */
export function packagesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|node_modules\/)(@[^/]+\/)?[^@./][^/]*\/package\.json$/.test(path))
    .map((path) => dirname(path));
}

/**
 * Returns the manifest and the lock file of a project that depends only on the package. Its lock file
 * is ours without our development packages, so npm finds packages in the cache of the clone's
 * installation; it requests missing packages from the registry.
 */
function projectOf({ path }: PackedArchive) {
  const { version, dependencies, bin } = manifest;
  const resolved = `file:${basename(path)}`;
  const projectManifest = { name: 'empty', version: '1.0.0', type: 'module' };
  const project = { ...projectManifest, dependencies: { fleetbed: resolved } };
  const digest = createHash('sha512').update(readFileSync(path)).digest('base64');
  const ownPackage = { version, resolved, integrity: `sha512-${digest}`, dependencies, bin };
  const lockedPackages: Readonly<Record<string, LockedPackage>> = readJson(
    join(root, 'package-lock.json'),
  ).packages;
  const runtimePackages = Object.entries(lockedPackages).filter(
    ([path, { dev }]) => path !== '' && !dev,
  );
  const packages = {
    '': project,
    'node_modules/fleetbed': ownPackage,
    ...Object.fromEntries(runtimePackages),
  };
  return {
    'package.json': project,
    'package-lock.json': { ...projectManifest, lockfileVersion: 3, requires: true, packages },
  };
}
