import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConformanceResult } from '../../conformance/conformance.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import type { FleetResult } from '../../simulator/engine/simulate-fleet.ts';
import type { ServerReady } from '../server-access/ready.ts';
import { type CommandEnd, startCommand } from '../testing/built-command.ts';
import {
  abridgeOutput,
  projectFolder,
  shownOutputs,
  withoutChangingValues,
} from '../testing/documents.ts';
import {
  INSTALL_MAX_MS,
  type InstalledPackage,
  installPackage,
} from '../testing/installed-package.ts';

const SET_UP_MAX_MS = 900_000;
const BLOCK_MAX_MS = 120_000;
const DEMO_MAX_MS = 120_000;
const readyLine = /^ready at .*\n/m;

const readme = readFileSync(join(projectFolder, 'README.md'), 'utf8');
const [demo, server, ...quickStarts] = shownOutputs(readme);

/** The environment of a new user: an empty home folder, and the machine's registry settings. */
let folder: string;
let environment: NodeJS.ProcessEnv;
const shells: ChildProcess[] = [];

/** True for network settings of the machine, which are not settings of a user. */
const isOfNetwork = (name: string) =>
  /^(https?_proxy|no_proxy|node_extra_ca_certs|npm_config_registry)$/i.test(name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-quick-starts-'));
  mkdirSync(join(folder, 'home'));
  environment = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => isOfNetwork(name))),
    PATH: process.env.PATH,
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'home'),
  };
  const args = ['clone', '--quiet', projectFolder, join(folder, 'fleetbed')];
  const clone = spawn('git', args, { env: environment, stdio: ['ignore', 'ignore', 'inherit'] });
  expect(await once(clone, 'exit')).toEqual([0, null]);
}, BLOCK_MAX_MS);

afterAll(async () => {
  for (const shell of shells) await endTerminal(shell, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}, BLOCK_MAX_MS * 2);

/** Opens a new terminal in a folder and pastes a block into it. */
function paste(script: string, cwd: string) {
  const shell = spawn('bash', { cwd, env: environment, detached: true });
  shells.push(shell);
  shell.stdin.end(script);
  return shell;
}

/**
 * Ends a terminal and all processes in it, unless it has ended by itself; returns its exit code.
 */
async function endTerminal(shell: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (shell.exitCode !== null || shell.signalCode !== null) return shell.exitCode;
  const exit = once(shell, 'exit');
  process.kill(-(shell.pid ?? 0), signal);
  const [code] = await exit;
  return code;
}

/** Pastes a block and returns the text that its terminal shows, without messages of npm. */
async function shownBy(script: string, cwd: string, limitMs: number): Promise<string> {
  const shell = paste(`exec 2>&1\n${script}`, cwd);
  const late = systemClock.after(limitMs, () => endTerminal(shell, 'SIGKILL'));
  const output = await text(shell.stdout);
  late.cancel();
  return output.replace(/^npm (notice|warn).*\n/gm, '');
}

/** Starts the README's server in a folder, and runs the quick starts beside it. */
async function runQuickStarts(cwd: string): Promise<void> {
  const terminal = paste(server?.script ?? '', cwd);
  let output = '';
  terminal.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  const errors = text(terminal.stderr);
  while (!readyLine.test(output)) {
    const more = await Promise.race([once(terminal.stdout, 'data'), once(terminal, 'exit')]);
    if (typeof more[0] !== 'string') throw new Error(`no server: ${await errors}`);
  }
  expect(withoutChangingValues(output)).toBe(withoutChangingValues(server?.output ?? ''));
  for (const { script, output } of quickStarts) {
    const printed = await shownBy(script, cwd, BLOCK_MAX_MS);
    expect
      .soft(withoutChangingValues(abridgeOutput(printed, output)), printed)
      .toBe(withoutChangingValues(output));
  }
  await endTerminal(terminal, 'SIGINT');
  await expect(fetch('http://127.0.0.1:8080/')).rejects.toThrow();
}

describe('the README commands in a fresh clone', () => {
  it('comprise a demo, a server and three quick starts of five commands at most', () => {
    expect([demo?.script, server?.script]).toEqual([
      expect.stringMatching(/^npm start/),
      expect.stringContaining('npx fleetbed serve'),
    ]);
    expect(quickStarts).toHaveLength(3);
    for (const { script } of quickStarts) {
      const commands = script.replaceAll('\\\n', ' ').trimEnd().split('\n');
      expect(commands.length).toBeLessThanOrEqual(5);
    }
  });

  it('install, build and run the demo', { timeout: SET_UP_MAX_MS }, async () => {
    const { script = '', output = '' } = demo ?? {};
    const printed = await shownBy(script, join(folder, 'fleetbed'), SET_UP_MAX_MS);
    expect(withoutChangingValues(abridgeOutput(printed, output)), printed).toBe(
      withoutChangingValues(output),
    );
  });

  it(
    'start a server, and the quick starts show the output that README shows',
    {
      timeout: 5 * BLOCK_MAX_MS,
    },
    () => runQuickStarts(join(folder, 'fleetbed')),
  );

  it('leave only ignored and requested files in the clone', () => {
    const known = readdirSync(projectFolder);
    const files = readdirSync(join(folder, 'fleetbed')).filter((name) => !known.includes(name));
    expect(files.sort()).toEqual([
      'conformance.html',
      'conformance.xml',
      'response.json',
      'vectors',
    ]);
  });
});

describe('the README commands in a project that has installed the package', () => {
  let installed: InstalledPackage;

  beforeAll(async () => {
    installed = await installPackage();
  }, INSTALL_MAX_MS);

  afterAll(() => installed.close());

  it(
    'start a server, and the quick starts show the output that README shows',
    {
      timeout: 5 * BLOCK_MAX_MS,
    },
    () => runQuickStarts(installed.folder),
  );
});

interface DemoResult {
  readonly fleet: FleetResult;
  readonly conformance: ConformanceResult;
  readonly server: ServerReady;
}

/** Occupies a port of the loopback interface, unless another program already does. */
function holdPort(port: number): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(server));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

// These tests are in this file because the quick starts above need the same ports.
describe('fleetbed demo --exit --json with busy ports', () => {
  let ended: CommandEnd;
  let result: DemoResult;
  let folder: string;
  const held: Server[] = [];

  beforeAll(async () => {
    held.push(await holdPort(8080), await holdPort(8081));
    folder = mkdtempSync(join(tmpdir(), 'fleetbed-demo-'));
    const reports = ['json', 'junit'].flatMap((form) => ['--report', `${form}=${folder}/${form}`]);
    ended = await startCommand(['demo', '--exit', '--json', ...reports]).ended;
    result = JSON.parse(ended.stdout);
  }, DEMO_MAX_MS);

  afterAll(() => {
    for (const server of held) server.close();
    rmSync(folder, { recursive: true });
  });

  it('ends with exit code 0, JSON on standard output and messages on standard error', () => {
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout.trimEnd().split('\n')).toHaveLength(1);
    const { port } = new URL(result.server.baseUrl);
    expect(ended.stderr).toContain(`port 8080 is in use; using ${port}\n`);
    expect(ended.stderr).toMatch(/^port 8081 is in use; using \d+$/m);
    expect(ended.stderr).toMatch(/suite: (\d+) of \1 cases/);
  });

  it('uses other free ports', () => {
    const { baseUrl, controlUrl } = result.server;
    expect([new URL(baseUrl).port, new URL(controlUrl).port]).not.toContain('8080');
    expect([new URL(baseUrl).port, new URL(controlUrl).port]).not.toContain('8081');
  });

  it('brings ten devices of each key type to their expected outcomes', () => {
    const { devices, funnel, ended } = result.fleet;
    expect(ended).toBe('settled');
    for (const keyType of ['rsa', 'ecdsa', 'ed25519']) {
      const outcomes = devices.filter((device) => device.keyType === keyType);
      expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual([
        'aborted',
        'already-installed',
        'failure',
        ...Array.from({ length: 7 }, () => 'success'),
      ]);
    }
    expect(funnel).toMatchObject({ devices: 30, offered: 27, success: 21, failure: 3, aborted: 3 });
  });

  it("finds the outcome of every device in the server's list", () => {
    expect(result.fleet.reconciliation).toMatchObject({ checked: true, ok: true, differences: [] });
  });

  it('judges the server without a failed or inconclusive case', () => {
    const { outcome, totals, leftBehind } = result.conformance;
    expect(outcome).toBe('pass');
    expect(totals).toMatchObject({ fail: 0, error: 0, inconclusive: 0, skip: 0 });
    expect(totals.pass).toBeGreaterThan(150);
    expect(leftBehind).toEqual([]);
  });

  it('writes the report of the fleet and the report of the suite', () => {
    const { fleet, conformance } = JSON.parse(readFileSync(join(folder, 'json'), 'utf8'));
    expect({ fleet, conformance }).toEqual({
      fleet: result.fleet,
      conformance: result.conformance,
    });
    expect(readFileSync(join(folder, 'junit'), 'utf8')).toMatch(/^<\?xml[\s\S]*<testcase /);
  });
});
