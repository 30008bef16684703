/**
 * Runs Debian's `mender-client`, and `mender-connect` once the device is accepted, as a client test
 * starts a client: by a command that keeps everything in one folder, and is killed at any moment.
 *
 *     node client-command.js SERVER CA DIR
 */
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../../fixtures/base/clock.ts';
import { makeDeviceRoot } from './device-root.ts';
import { busOf, busPath, clientOf, connectOf } from './field-device.ts';
import { type ProgramStart, spawnProgram, unprivileged } from './running-program.ts';

const CERTIFICATE = '/etc/mender/server.crt';
const POLL_INTERVAL_MS = 50;
const ENTERABLE_MODE = 0o711;

const [serverUrl = '', ca = '', dir = ''] = process.argv.slice(2);
const root = join(dir, 'root');

/** Spawns a program whose output is that of this command, and ends with it. */
function run(start: ProgramStart) {
  const child = spawnProgram(start);
  child.stdout.pipe(process.stdout);
  child.stderr.pipe(process.stderr);
  child.once('close', () => process.exit(1));
  return child;
}

// The bus and `mender-connect` run as a user that must be able to enter the folder.
if (unprivileged)
  for (const each of [dir, dirname(dir), dirname(dirname(dir))]) chmodSync(each, ENTERABLE_MODE);
if (!existsSync(root)) {
  makeDeviceRoot(root, {
    serverUrl,
    identity: { mac: 'field-device' },
    inventory: ['kernel=test'],
    settings: {
      UpdatePollIntervalSeconds: 2,
      InventoryPollIntervalSeconds: 10,
      ServerCertificate: CERTIFICATE,
    },
    files: { [CERTIFICATE.slice(1)]: readFileSync(ca, 'utf8') },
  });
}
// A killed bus leaves its socket behind.
rmSync(join(root, busPath), { force: true });
run(busOf(dir));
while (!existsSync(join(root, busPath))) await systemClock.sleep(POLL_INTERVAL_MS);
const client = run(clientOf(root));
let isConnecting = false;
client.stderr.on('data', (text: Buffer) => {
  if (isConnecting || !text.includes('Reauthorization successful')) return;
  isConnecting = true;
  run(connectOf(dir, client.pid ?? 0).start);
});
