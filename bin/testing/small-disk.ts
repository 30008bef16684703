/**
 * A disk that can be full at will, for a server of another process: a small file system of its own
 * where the system gives one, and else a limit on the size of the files that it writes.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';

/** How a disk is made small, and full for one process. */
export interface SmallDisk {
  readonly name: string;
  /** What starts a command with this folder on the disk. */
  launcher(folder: string): readonly string[];
  /** The same with no room from the start. */
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
    // Its own length is known to be what is left, so that nothing more fits beside it.
    writeFileSync(`${inside}/ballast`, Buffer.alloc(bavail * bsize));
  },
  empty: (pid, folder) => rmSync(`/proc/${pid}/root${folder}/ballast`),
};

/** Those that this machine lets this user have; the first one always. */
export function smallDisks(): readonly SmallDisk[] {
  return canMount ? [sizeLimit, fileSystem] : [sizeLimit];
}

/** What starts a command with this folder read-only, where this machine lets this user mount. */
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
