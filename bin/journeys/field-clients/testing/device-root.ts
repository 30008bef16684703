/**
 * Builds the folder that a Debian client sees as the whole file system: the client, the libraries
 * and few programs that it needs, and the files of its device. The client's paths are fixed
 * (`/usr/share/mender`, `/etc/mender`), so only this keeps it away from those of the machine.
 */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { librariesOf, packageFile, programPath } from './programs.ts';
import { unprivileged } from './running-program.ts';

/** The files of a device before its first update. */
export interface DeviceRootFiles {
  readonly serverUrl: string;
  readonly identity: Readonly<Record<string, string>>;
  /** Lines `name=value` that the inventory script of the device prints. */
  readonly inventory: readonly string[];
  /** Settings of the client, other than its server and its intervals. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Further files, by path from the root. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Folder of the update modules, from the root. */
export const modulesFolder = 'usr/share/mender/modules/v3';

const clientPath = '/usr/bin/mender';
/** Programs that Debian's update modules call. */
const tools = ['sh', 'cat', 'chmod', 'cp', 'dirname', 'mkdir', 'mv', 'rm', 'sync', 'tar'];
const packagedModules = ['directory', 'script', 'single-file'];

/** Fills the folder, and makes the unprivileged user its owner. */
export function makeDeviceRoot(root: string, files: DeviceRootFiles): void {
  copyProgram(root, programPath('mender'), clientPath);
  for (const tool of tools) copyProgram(root, programPath(tool), join('/bin', tool));
  for (const module of packagedModules) {
    copyInto(root, packageFile(join(modulesFolder, module)), join('/', modulesFolder, module));
  }
  for (const [name, text] of Object.entries(deviceFiles(files))) writeText(root, name, text);
  mkdirSync(join(root, 'run'), { recursive: true });
  mkdirSync(join(root, 'tmp'), { recursive: true });
  if (unprivileged) changeOwner(root, unprivileged);
}

/** Returns the arguments that run the client without privileges, with the folder as its root. */
export function confinedClient(root: string): string[] {
  const confinement = unprivileged
    ? ['chroot', `--userspec=${unprivileged.uid}:${unprivileged.gid}`, '--groups=', root]
    : ['unshare', '--user', '--map-current-user', `--root=${root}`];
  return [...confinement, clientPath];
}

function deviceFiles({ serverUrl, identity, inventory, settings, files }: DeviceRootFiles) {
  const lines = Object.entries(identity).map(([name, value]) => `${name}=${value}`);
  const polls = ['UpdatePoll', 'InventoryPoll', 'RetryPoll'];
  const seconds = polls.map((poll) => [`${poll}IntervalSeconds`, 1]);
  const all = { ServerURL: serverUrl, ...Object.fromEntries(seconds), ...settings };
  return {
    'etc/mender/mender.conf': JSON.stringify(all),
    'etc/mender/artifact_info': 'artifact_name=release-0\n',
    'var/lib/mender/device_type': 'device_type=board\n',
    'usr/share/mender/identity/mender-device-identity': printing(lines),
    'usr/share/mender/inventory/mender-inventory-test': printing(inventory),
    // A plain file: creating the device needs privileges, and nothing reads the content.
    'dev/null': '',
    ...files,
  };
}

function printing(lines: readonly string[]): string {
  return ['#!/bin/sh', ...lines.map((line) => `echo '${line}'`), ''].join('\n');
}

function writeText(root: string, name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
  chmodSync(join(root, name), 0o755);
}

function copyProgram(root: string, source: string, target: string): void {
  copyInto(root, source, target);
  for (const library of librariesOf(source)) copyInto(root, library, library);
}

function copyInto(root: string, source: string, target: string): void {
  if (existsSync(join(root, target))) return;
  mkdirSync(dirname(join(root, target)), { recursive: true });
  copyFileSync(source, join(root, target));
}

function changeOwner(folder: string, { uid, gid }: { uid: number; gid: number }): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    chownSync(join(folder, name), uid, gid);
  }
  chownSync(folder, uid, gid);
}
