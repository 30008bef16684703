/**
 * `npm run profile:server` and `npm run profile:simulator`: send polls without a pause while Node's
 * profiler records the server or the simulator. The profile is written to `.fleetbed/profiles/`;
 * Chrome's developer tools and speedscope show it as a flame graph and as a table of functions.
 */
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { createOutput } from '../../output/output.ts';
import type { ServerReady } from '../../server-access/ready.ts';
import { knownDevices } from './authenticated-devices.ts';
import { Children, type CommandArgs, exitOnSignals, scriptFile, serveOptions } from './children.ts';
import { load } from './load.ts';
import { busyFleet } from './measured-fleet.ts';
import { poll } from './parts/exchanges.ts';
import { pinGenerator } from './pinning.ts';

const SECONDS = 10;
const DEVICES = 1000;
const FLEET_DEVICES = 256;

const folder = fileURLToPath(new URL('../../../../.fleetbed/profiles', import.meta.url));
/** The unbundled command: the bundle lacks the names and files of the sources. */
const command = fileURLToPath(new URL('../../fleetbed.js', import.meta.url));
const subjects = { server: profileServer, simulator: profileSimulator };

const output = createOutput(false);
exitOnSignals();
const children = new Children(pinGenerator());
try {
  process.exitCode = await profile(process.argv.slice(2));
} catch (error) {
  const { exitCode, sentence } = describeError(error);
  output.progress(sentence);
  process.exitCode = exitCode;
} finally {
  await children.end();
}

async function profile([name = '', ...rest]: CommandArgs): Promise<number> {
  if (!isSubject(name) || rest.length > 0) {
    output.progress(`profile takes one of ${Object.keys(subjects).join(', ')}`);
    return exitCodes.usage;
  }
  await mkdir(folder, { recursive: true });
  const file = `${name}.cpuprofile`;
  output.progress(`profiling the ${name}`);
  await subjects[name](['--cpu-prof', '--cpu-prof-dir', folder, '--cpu-prof-name', file]);
  output.line(join(folder, file));
  output.progress('open it in Chrome (DevTools, Performance, Load profile) or at speedscope.app');
  return exitCodes.pass;
}

function isSubject(name: string): name is keyof typeof subjects {
  return Object.hasOwn(subjects, name);
}

/** Profiles the server while autocannon polls as known devices. */
async function profileServer(profiler: CommandArgs): Promise<void> {
  const args = [...profiler, command, ...serveOptions, '--auto-accept'];
  const server = await children.start('subject', args);
  const ready = JSON.parse(server.firstLine) as ServerReady;
  const requests = (await knownDevices(ready, DEVICES)).map(poll.requests);
  const { baseUrl } = ready;
  const { pid } = server;
  await load({ baseUrl, pid, requests, status: poll.status, cpuSeconds: SECONDS });
  await server.end();
}

/** Profiles a small fleet that polls and ends by itself. */
async function profileSimulator(profiler: CommandArgs): Promise<void> {
  const server = await children.serve('--auto-accept');
  const present = { devices: 1, sockets: 0 };
  const bench = { ...busyFleet(server, FLEET_DEVICES, SECONDS), present };
  const args = [...profiler, scriptFile('fleet'), JSON.stringify(bench)];
  const fleet = children.spawn('generator', args);
  fleet.stdout.resume();
  const [code] = await once(fleet, 'exit');
  if (code !== 0) throw new Error(`the fleet ended with exit code ${code}`);
}
