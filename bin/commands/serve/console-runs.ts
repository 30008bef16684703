/** What the console's runs are: commands of this program, as its children. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { RunRequest, RunStarter } from '../../../server/control/sources/runs.ts';
import type { ServerReady } from '../../server-access/ready.ts';

const DEVICES_DEFAULT = 20;
const SECONDS_DEFAULT = 60;

/** @param ready what is known of the server once it runs; no run begins before that */
export function runStarter(ready: () => ServerReady | undefined): RunStarter {
  return (request, onLine) => {
    const server = ready();
    if (!server) return undefined;
    const child = spawn(process.execPath, [process.argv[1] ?? '', ...wordsFor(request, server)], {
      // Tokens are no words of a command line, which every user of the machine can read.
      env: {
        ...process.env,
        FLEETBED_URL: server.baseUrl,
        ...loginOf(server),
        FLEETBED_CONTROL_URL: server.controlUrl,
        FLEETBED_CONTROL_TOKEN: server.controlToken,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', onLine);
    }
    const ended = new Promise<number | null>((resolve) => {
      child.once('error', (error) => {
        onLine(`the command could not be started: ${error.message}`);
        resolve(null);
      });
      child.once('close', resolve);
    });
    return { ended, stop: () => child.kill('SIGTERM') };
  };
}

/** The token may expire while the server runs, but a data folder may not know the password. */
function loginOf({ adminEmail, adminPassword, adminToken }: ServerReady) {
  return adminPassword === ''
    ? { FLEETBED_TOKEN: adminToken, FLEETBED_PASSWORD: undefined }
    : { FLEETBED_TOKEN: undefined, FLEETBED_EMAIL: adminEmail, FLEETBED_PASSWORD: adminPassword };
}

function wordsFor({ kind, cases = '', devices, seconds }: RunRequest, server: ServerReady) {
  const { headerPrefix, tls } = server;
  const shared = ['--header-prefix', headerPrefix];
  const ca = tls?.caFile === undefined ? [] : ['--ca', tls.caFile];
  if (kind === 'conformance') {
    const selection = cases === '' ? [] : [cases];
    return ['conform', ...shared, ...ca, '--ndjson', '-', ...selection];
  }
  const size = ['--devices', String(devices ?? DEVICES_DEFAULT)];
  const length = ['--duration', `${seconds ?? SECONDS_DEFAULT}s`];
  return ['simulate', ...shared, ...ca, '--accept', '--connect', ...size, ...length];
}
