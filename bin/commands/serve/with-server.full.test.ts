import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand, startCommand } from '../../testing/built-command.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-with-server-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

const node = (script: string) => [process.execPath, '-e', script];

/** A command that asks the server for the path with its password, and prints the response. */
const askingFor = (path: string) =>
  node(`
    const { FLEETBED_URL: url, FLEETBED_EMAIL: email, FLEETBED_PASSWORD: word } = process.env;
    const headers = { authorization: 'Basic ' + btoa(email + ':' + word) };
    fetch(url + '${path}', { method: 'POST', headers }).then((answer) => console.log(url, answer.status));
  `);

describe('fleetbed with-server', { timeout: 60_000 }, () => {
  it('runs a command that finds the server in its environment, and stops the server', async () => {
    const args = askingFor('/api/management/v1/useradm/auth/login');
    const { code, stdout, stderr } = await runCommand(['with-server', '--', ...args]);
    expect([code, stderr]).toEqual([0, '']);
    const [url = '', status] = stdout.trim().split(' ');
    expect(status).toBe('200');
    await expect(fetch(url)).rejects.toThrow();
  });

  it('takes options of the command without --, and hides the token of another server', async () => {
    const script =
      "console.log(process.argv.slice(1).join(), process.env.FLEETBED_TOKEN ?? 'none')";
    const args = ['with-server', '--auto-accept', ...node(script), '--', '--port', 'x'];
    const { code, stdout } = await runCommand(args, { FLEETBED_TOKEN: 'of.another.server' });
    expect([code, stdout]).toEqual([0, '--port,x none\n']);
  });

  it.each([
    ['its exit code', 'process.exit(42)', 42],
    ['128 and the number of the signal that ended it', "process.kill(process.pid, 'SIGKILL')", 137],
  ])('passes on %s of its command', async (_, script, code) => {
    const ran = await runCommand(['with-server', '--', ...node(script)]);
    expect([ran.code, ran.stderr]).toEqual([code, '']);
  });

  it.each([
    ['SIGTERM', 7],
    ['SIGINT', 7],
  ] as const)(
    'passes %s on to its command, and stops the server after it',
    async (signal, code) => {
      const script = `
      process.on('${signal}', () => fetch(process.env.FLEETBED_URL).then(() => process.exit(7)));
      setInterval(() => undefined, 1000);
      console.log(process.env.FLEETBED_URL);
    `;
      const running = startCommand(['with-server', '--', ...node(script)]);
      const url = (await running.waitForOutput('stdout', /\n/)).trim();
      expect((await fetch(url)).status).toBe(404);
      expect((await running.end(signal)).code).toBe(code);
      await expect(fetch(url)).rejects.toThrow();
    },
  );

  it('lets other commands of fleetbed find its server by one address', async () => {
    const clock = `"$FLEETBED_NODE" "$FLEETBED_PROGRAM" clock --json`;
    const args = ['sh', '-c', `unset FLEETBED_CONTROL_URL FLEETBED_CONTROL_TOKEN; ${clock}`];
    const { code, stdout, stderr } = await runCommand(['with-server', '--', ...args], {
      FLEETBED_NODE: process.execPath,
      FLEETBED_PROGRAM: join(import.meta.dirname, '../../../dist/bin/fleetbed.js'),
      XDG_RUNTIME_DIR: folder,
    });
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ mode: 'base' });
  });

  it('ends with exit code 1 when a planned fault never fired', async () => {
    const plan = join(folder, 'plan.yaml');
    const rule =
      'rules:\n  - { id: gateway, match: { operation: get-configuration }, act: gateway-502 }\n';
    writeFileSync(plan, rule);
    const ran = await runCommand(['with-server', '--faults', plan, '--', ...node('')]);
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('gateway')]);
  });

  it.each([
    [['with-server'], 2, "missing required argument 'command'"],
    [['with-server', '--ready-file', 'x', '--', 'true'], 2, "unknown option '--ready-file'"],
    [['with-server', '--dialect', '--', 'true'], 2, '--dialect needs a name here'],
    [['with-server', '--', './no-such-command'], 3, 'cannot run ./no-such-command: there is no'],
  ])('refuses the arguments %j with exit code %s and one line', async (args, code, sentence) => {
    const ran = await runCommand(args);
    expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(sentence)]);
    expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(ran.stdout).toBe('');
  });

  it('keeps no ready file and no run file after the end', async () => {
    const state = join(folder, 'state');
    const own = { XDG_RUNTIME_DIR: folder, XDG_STATE_HOME: state };
    const script = "console.log(require('fs').readdirSync(process.argv[1] + '/fleetbed').length)";
    const during = await runCommand(['with-server', '--', ...node(script), folder], own);
    expect(during.stdout).toBe('1\n');
    const journalRun = await runCommand(['journal'], { ...own, FLEETBED_CONTROL_URL: '' });
    expect(journalRun.stderr).toContain('no running server was found on this machine');
  });
});
