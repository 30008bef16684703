/** Starts runs for the console: each run is a command of this program in a child process. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { RunRequest, RunStarter } from '../../../server/control/sources/runs.ts';
import { configVariable } from '../../options/config-file.ts';
import type { ServerReady } from '../../server-access/ready.ts';

const DEVICES_DEFAULT = 20;
const SECONDS_DEFAULT = 60;

/**
 * Returns the starter of runs.
 * @param ready returns the ready message of the server; no run starts while it returns undefined
 */
export function runStarter(ready: () => ServerReady | undefined): RunStarter {
  return (request, onLine) => {
    const server = ready();
    if (!server) return undefined;
    const child = spawn(
      process.execPath,
      [process.argv[1] ?? '', ...argumentsFor(request, server)],
      {
        // Tokens go into the environment: every user of the machine can read command lines.
        env: {
          ...process.env,
          // The page alone says what the run does.
          [configVariable]: 'none',
          FLEETBED_URL: server.baseUrl,
          ...loginOf(server),
          FLEETBED_CONTROL_URL: server.controlUrl,
          FLEETBED_CONTROL_TOKEN: server.controlToken,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', onLine);
    }
    const exit = new Promise<number | null>((resolve) => {
      child.once('error', (error) => {
        onLine(`the command could not be started: ${error.message}`);
        resolve(null);
      });
      child.once('close', resolve);
    });
    return { ended: exit, stop: () => child.kill('SIGTERM') };
  };
}

/**
 * Returns the login for a run: the password, because a token may expire; the token when only the
 * data folder knows the password.
 */
function loginOf({ adminEmail, adminPassword, adminToken }: ServerReady) {
  return adminPassword === ''
    ? { FLEETBED_TOKEN: adminToken, FLEETBED_PASSWORD: undefined }
    : { FLEETBED_TOKEN: undefined, FLEETBED_EMAIL: adminEmail, FLEETBED_PASSWORD: adminPassword };
}

function argumentsFor({ kind, cases = '', devices, seconds }: RunRequest, server: ServerReady) {
  const { headerPrefix, tls } = server;
  const sharedArguments = ['--header-prefix', headerPrefix];
  const ca = tls?.caFile === undefined ? [] : ['--ca', tls.caFile];
  if (kind === 'conformance') {
    const selection = cases === '' ? [] : [cases];
    return ['conform', ...sharedArguments, ...ca, '--ndjson', '-', ...selection];
  }
  const size = ['--devices', String(devices ?? DEVICES_DEFAULT)];
  const length = ['--duration', `${seconds ?? SECONDS_DEFAULT}s`];
  return ['simulate', ...sharedArguments, ...ca, '--accept', '--connect', ...size, ...length];
}
