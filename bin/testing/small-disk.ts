/**
 * A disk that can be made full on demand, for a server in another process: a small file system of
 * its own where the system provides one, otherwise a limit on the size of the files it writes.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';

/** How a disk is made small, and full for one process. */
export interface SmallDisk {
  readonly name: string;
  /** Returns the launcher of a command with this folder on the disk. */
  launcher(folder: string): readonly string[];
  /** The same with no space from the start. */
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
  launcher: (folder) => mounted(folder, '4m'),
  fullLauncher: (folder) => mounted(folder, '8k'),
  fill: (pid, folder) => {
    const inside = `/proc/${pid}/root${folder}`;
    const { bavail, bsize } = statfsSync(inside);
    // Its size is exactly the remaining space, so that nothing else fits.
    writeFileSync(`${inside}/ballast`, Buffer.alloc(bavail * bsize));
  },
  empty: (pid, folder) => rmSync(`/proc/${pid}/root${folder}/ballast`),
};

/** Returns the small disks available to this user on this machine; the first one always is. */
export function smallDisks(): readonly SmallDisk[] {
  return canMount ? [sizeLimit, fileSystem] : [sizeLimit];
}

/** Returns launchers with this folder read-only, where this user may mount. */
export function readOnlyLaunchers(): readonly SmallDisk['launcher'][] {
  const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
  return canMount ? [(folder) => ['unshare', '-rm', 'sh', '-c', script, folder]] : [];
}

const canMount =
  spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

function mounted(folder: string, size: string): readonly string[] {
  const script = `mount -t tmpfs -o size=${size} tmpfs "$0" && exec "$@"`;
  return ['unshare', '-rm', 'sh', '-c', script, folder];
}

function limitFiles(pid: number, limit: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${limit}`]);
}
