/** Measures the disk space of the package and of the packages that it installs. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BenchRow, limitRow } from './row.ts';

const BYTES_PER_MB = 1_000_000;
const DIST_MAX_MB = 3;
const DEPENDENCIES_MAX_MB = 60;
const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** The needed part of an entry in `node_modules/.package-lock.json`. */
interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

/** Measures both sizes; they do not vary between rounds. */
export function packageSizeRows(): BenchRow[] {
  const dist = bytesIn(join(root, 'dist'));
  const folders = runtimePackages();
  const installedBytes = folders.reduce((sum, folder) => sum + bytesIn(folder), 0);
  const row = (title: string, bytes: number, limit: number, note: string): BenchRow =>
    limitRow({
      title,
      unit: 'MB',
      limit,
      note,
      subject: { name: 'fleetbed', values: [bytes / BYTES_PER_MB] },
    });
  return [
    row('size of dist', dist, DIST_MAX_MB, 'without source maps'),
    row(
      'size of runtime dependencies',
      installedBytes,
      DEPENDENCIES_MAX_MB,
      `${folders.length} packages`,
    ),
  ];
}

/**
 * Returns the folders of the runtime packages for this platform. A nested package counts as part of
 * its parent.
 */
function runtimePackages(): string[] {
  const file = join(root, 'node_modules/.package-lock.json');
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  return Object.entries(packages)
    .filter(
      ([path, { dev, devOptional }]) => !dev && !devOptional && !/\/node_modules\//.test(path),
    )
    .map(([path]) => join(root, path));
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.map'))
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
