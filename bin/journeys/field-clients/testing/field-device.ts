/** A device with Debian's clients under test; each client sees only its own folder. */
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Device } from '../../../../fixtures/contract/management/devices.ts';
import { decide, knownDevices } from '../../../../server/testing/test-device.ts';
import type { TestServer } from '../../../../server/testing/test-server.ts';
import { confinedClient, type DeviceRootFiles, makeDeviceRoot } from './device-root.ts';
import { lendProgram, libraryEnvironment } from './programs.ts';
import {
  type ProgramStart,
  type RunningProgram,
  startProgram,
  unprivileged,
} from './running-program.ts';

/** Path of the device's message bus, as the client sees it. */
export const busPath = '/run/bus';

/** A device with a running `mender-client`. */
export interface FieldDevice {
  /** Name of the device; its identity is `{"mac": name}`. */
  readonly name: string;
  /** The folder that the client sees as its whole file system. */
  readonly root: string;
  readonly client: RunningProgram;
  /** Starts `mender-connect` on an accepted device; its shells open in an empty folder. */
  startConnect(): Promise<ConnectClient>;
  /** Ends every program of the device and removes its folders. */
  end(): Promise<void>;
}

/** A running `mender-connect`. */
export interface ConnectClient {
  readonly program: RunningProgram;
  /** The empty folder in which its shells open. */
  readonly folder: string;
}

/** Starts a new device of type `board` with the artifact `release-0`. */
export async function startFieldDevice(
  server: TestServer,
  name: string,
  files: Partial<DeviceRootFiles> = {},
): Promise<FieldDevice> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetbed-field-'));
  // The unprivileged user must be able to enter the folder.
  chmodSync(folder, 0o755);
  const root = join(folder, 'root');
  const deviceFiles = {
    serverUrl: server.baseUrl,
    identity: { mac: name },
    inventory: [],
    ...files,
  };
  const programs: RunningProgram[] = [];
  const end = async (): Promise<void> => {
    for (const program of programs) await program.end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    makeDeviceRoot(root, deviceFiles);
    const bus = startProgram(busOf(folder));
    programs.unshift(bus);
    await bus.waitForOutput(/^unix:path=/m);
  } catch (error) {
    await end();
    throw error;
  }
  const client = startProgram(clientOf(root));
  programs.unshift(client);
  return {
    name,
    root,
    client,
    startConnect: async () => {
      // `mender-connect` can miss the signal about a new token right after its start, and would
      // then wait for the next one.
      await client.waitForOutput(/Reauthorization successful/);
      const { start, folder: shells } = connectOf(folder, client.pid);
      const program = startProgram(start);
      programs.unshift(program);
      await program.waitForOutput(/Connection established/);
      return { program, folder: shells };
    },
    end,
  };
}

/** Returns the device from the management API after its first authentication request. */
export function firstContact(server: TestServer, { name, client }: FieldDevice): Promise<Device> {
  return client.until(async () => {
    const devices = await knownDevices(server);
    return devices.find(({ identity_data: data }) => data.mac === name);
  });
}

/** Accepts or rejects a device, as a user. */
export async function judge(
  server: TestServer,
  { id, auth_sets }: Device,
  status: 'accepted' | 'rejected',
): Promise<void> {
  const response = await decide(server, { id, authSetId: auth_sets[0]?.id ?? '' }, status);
  if (response.status !== 204) throw new Error(`not ${status}: ${response.text}`);
}

/** Waits for the first contact, and accepts the device. */
export async function letIn(server: TestServer, device: FieldDevice): Promise<Device> {
  const serverDevice = await firstContact(server, device);
  await judge(server, serverDevice, 'accepted');
  return serverDevice;
}

/**
 * Returns how a private message bus is started in the folder of a device. It allows its one user
 * everything; the machine's own bus is not used.
 */
export function busOf(folder: string): ProgramStart {
  const socket = join(folder, 'root', busPath);
  const settings = join(folder, 'bus.conf');
  const everything = ['own', 'send_destination', 'receive_sender'].map(
    (right) => `<allow ${right}="*"/>`,
  );
  const policy = `<policy context="default">${everything.join('')}</policy>`;
  const listen = `<listen>unix:path=${socket}</listen><auth>EXTERNAL</auth>`;
  writeFileSync(settings, `<busconfig><type>system</type>${listen}${policy}</busconfig>\n`);
  const args = [`--config-file=${settings}`, '--nofork', '--nopidfile', '--print-address'];
  return { ...lendProgram(folder, 'dbus-daemon'), args };
}

/** Returns how `mender-client` is started, with the folder as its root. */
export function clientOf(root: string): ProgramStart {
  const [program = '', ...args] = [...confinedClient(root), '--no-syslog', 'daemon'];
  const environment = {
    DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${busPath}`,
    ...libraryEnvironment(),
  };
  return { program, args, environment, keepRights: true };
}

/** Returns how `mender-connect` is started, and the empty folder in which its shells open. */
export function connectOf(folder: string, clientPid: number) {
  const empty = mkdtempSync(join(folder, 'shell-'));
  if (unprivileged) chownSync(empty, unprivileged.uid, unprivileged.gid);
  const settings = join(folder, 'mender-connect.conf');
  const shellSettings = {
    User: unprivileged ? 'nobody' : userInfo().username,
    ShellCommand: '/bin/sh',
    // Without this, the shell would start in the user's home folder.
    ShellArguments: ['-c', `cd '${empty}' && HOME=$PWD exec /bin/sh -i`],
    ReconnectIntervalSeconds: 1,
  };
  writeFileSync(settings, JSON.stringify(shellSettings));
  const commands = commandFolder(folder, clientPid);
  const { program, environment } = lendProgram(commands, 'mender-connect');
  const bus = { DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${join(folder, 'root', busPath)}` };
  const start: ProgramStart = {
    program,
    args: ['--trace', '--config', settings, 'daemon'],
    environment: { ...environment, ...bus, PATH: commands },
  };
  return { start, folder: empty };
}

/**
 * Creates a folder with the commands that `mender-connect` runs to reach its client: the client's
 * own command, and those by which it finds and wakes the running client.
 */
function commandFolder(folder: string, clientPid: number): string {
  const commands = mkdtempSync(join(folder, 'commands-'));
  chmodSync(commands, 0o755);
  lendProgram(commands, 'mender');
  const scripts = { systemctl: `echo MainPID=${clientPid}`, kill: 'kill "$@"' };
  for (const [name, line] of Object.entries(scripts)) {
    writeFileSync(join(commands, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  }
  return commands;
}
