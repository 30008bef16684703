/**
 * A disk that a test can fill, for a server in another process: a small file system where the
 * system allows mounting one, otherwise a limit on the size of written files.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';

/** A way to limit the disk of one process. */
export interface SmallDisk {
  readonly name: string;
  /** Returns a command prefix that runs a command with this folder on the small disk. */
  launcher(folder: string): readonly string[];
  /** Returns a command prefix that runs a command with this folder on a full disk. */
  fullLauncher(folder: string): readonly string[];
  fill(pid: number, folder: string): void;
  empty(pid: number, folder: string): void;
}

const sizeLimit: SmallDisk = {
  name: 'a limit on the size of files',
  launcher: () => [],
  fullLauncher: () => ['prlimit', '--fsize=0:'],
  fill: (pid) => limitFiles(pid, '0:'),
  empty: (pid) => limitFiles(pid, 'unlimited:'),
};

const fileSystem: SmallDisk = {
  name: 'a small file system',
  launcher: (folder) => mountCommand(folder, '4m'),
  fullLauncher: (folder) => mountCommand(folder, '8k'),
  fill: (pid, folder) => {
    const inside = `/proc/${pid}/root${folder}`;
    const { bavail, bsize } = statfsSync(inside);
    // The ballast takes exactly the remaining space, so that nothing else fits.
    writeFileSync(`${inside}/ballast`, Buffer.alloc(bavail * bsize));
  },
  empty: (pid, folder) => rmSync(`/proc/${pid}/root${folder}/ballast`),
};

/** Returns the small disks that this user can create on this machine, at least one. */
export function smallDisks(): readonly SmallDisk[] {
  return canMount ? [sizeLimit, fileSystem] : [sizeLimit];
}

/** Returns command prefixes that make this folder read-only; empty when this user may not mount. */
export function readOnlyLaunchers(): readonly SmallDisk['launcher'][] {
  const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
  return canMount ? [(folder) => ['unshare', '-rm', 'sh', '-c', script, folder]] : [];
}

/** A small file system that outlives the commands on it. */
export interface PersistentDisk {
  readonly launcher: readonly string[];
  fill(): void;
  empty(): void;
  end(): Promise<void>;
}

/**
 * Returns functions that create such a file system in a folder; empty when this user may not mount.
 */
export function persistentDisks(): readonly ((folder: string) => Promise<PersistentDisk>)[] {
  return canMount && spawnSync('nsenter', ['--version']).status === 0 ? [persistentDisk] : [];
}

async function persistentDisk(folder: string): Promise<PersistentDisk> {
  const script = 'mount -t tmpfs -o size=4m tmpfs "$0" && echo mounted && exec cat';
  const holder = spawn('unshare', ['-rm', 'sh', '-c', script, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const { pid = 0 } = holder;
  return {
    launcher: ['nsenter', '-t', String(pid), '-U', '--preserve-credentials', '-m'],
    fill: () => fileSystem.fill(pid, folder),
    empty: () => fileSystem.empty(pid, folder),
    end: async () => {
      holder.stdin.end();
      await once(holder, 'close');
    },
  };
}

const canMount =
  spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

function mountCommand(folder: string, size: string): readonly string[] {
  const script = `mount -t tmpfs -o size=${size} tmpfs "$0" && exec "$@"`;
  return ['unshare', '-rm', 'sh', '-c', script, folder];
}

function limitFiles(pid: number, limit: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${limit}`]);
}
