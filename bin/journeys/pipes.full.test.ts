import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../server/testing/test-server.ts';
import { startCommand } from '../testing/built-command.ts';

const adminPassword = 'secret1234';

let folder: string;
let pipe: string;
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ adminPassword });
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-test-'));
  pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe, `${pipe}.mjs`]);
  mkdirSync(join(folder, 'keys'));
  execFileSync('mkfifo', [join(folder, 'keys', 'one.pem')]);
  mkdirSync(join(folder, 'state'));
  execFileSync('mkfifo', [join(folder, 'state', 'fleet.ndjson')]);
  mkdirSync(join(folder, 'made'));
  execFileSync('mkfifo', [join(folder, 'made', 'ledger.ndjson')]);
  writeFileSync(join(folder, 'body.json'), '{}');
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const fleet = 'simulate SERVER --devices 1 --duration 1s';
const user = `--password ${adminPassword}`;
const suite = `conform SERVER ${user}`;

/** PIPE is a named pipe that no process writes to; some files in FOLDER are such pipes too. */
const commands: readonly string[] = [
  'serve --port 0 --control-port 0 --world PIPE',
  'serve --port 0 --control-port 0 --faults PIPE',
  'serve --port 0 --control-port 0 --tls --tls-cert PIPE --tls-key PIPE',
  'serve --port 0 --control-port 0 --tls --tls-client-ca PIPE',
  'serve --port 0 --control-port 0 --data PIPE',
  'faults add PIPE --control-url http://127.0.0.1:9 --control-token t',
  'world check PIPE',
  'world load PIPE --control-url http://127.0.0.1:9 --control-token t',
  `devices SERVER ${user} --ca PIPE`,
  `deploy PIPE SERVER ${user} --device-type board`,
  'doctor signature --body PIPE --key PIPE --signature x',
  'doctor signature --body FOLDER/body.json --key PIPE --signature x',
  'doctor environment SERVER --ca PIPE',
  `${fleet} --plan PIPE`,
  `${fleet} --ca PIPE`,
  `${fleet} --cert PIPE --key PIPE`,
  `${fleet} --behaviour-file PIPE.mjs`,
  `${fleet} --id-data-csv PIPE`,
  `${fleet} --ledger PIPE`,
  `${fleet} --key-folder FOLDER/keys`,
  `${fleet} --state FOLDER/state --seed x`,
  `${fleet} --shards 2 --worker-secret 0123456789abcdef --redis rediss://127.0.0.1:9 --redis-ca PIPE`,
  `cleanup PIPE ${user}`,
  `cleanup FOLDER/made ${user}`,
  `simulate cleanup PIPE ${user}`,
  `conform cleanup PIPE ${user}`,
  `${suite} --ledger PIPE`,
  `${suite} --ca PIPE`,
  `${suite} --waivers PIPE`,
  `${suite} --hooks PIPE`,
  `${suite} --capabilities PIPE`,
  `${suite} --compare PIPE`,
  'conform compare PIPE PIPE',
  'conform rerun PIPE',
  'report render PIPE --html FOLDER/out.html',
  'report compare PIPE PIPE',
  'report merge PIPE --out FOLDER/out.json',
  'calendar PIPE',
  'state import PIPE --data FOLDER/new',
];

describe('a named pipe in place of a file', () => {
  it.each(commands)('causes %s to fail with one sentence', async (line) => {
    const args = line
      .replace('SERVER', `--url ${server.baseUrl}`)
      .replaceAll('PIPE', pipe)
      .replaceAll('FOLDER', folder)
      .split(' ');
    const { code, stderr } = await startCommand(args).ended;
    // The simulator prints which fleet it starts before its last line.
    expect(stderr.replace(/^1 device against .*\n/, '')).toMatch(
      /^[^\n]*(?:named pipe|a file where a folder must be)[^\n]*\n$/,
    );
    expect([2, 3]).toContain(code);
  });

  it('is read when the shell has opened it, as for --faults <(...)', async () => {
    const args = ['serve', '--port', '0', '--control-port', '0', '--faults', '/dev/stdin'];
    const shell = ['sh', '-c', 'echo "nothing: here" | "$@"', 'sh'];
    const { code, stderr } = await startCommand(args, {}, shell).ended;
    expect(stderr).toContain('/dev/stdin');
    expect(stderr).not.toContain('pipe');
    expect(code).toBeGreaterThan(0);
  });
});
