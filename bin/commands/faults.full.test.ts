import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { actions } from '../../server/faults/actions/actions.ts';
import { variationRows } from '../../server/variation/variations.ts';
import type { ServerReady } from '../server-access/ready.ts';
import { type RunningCommand, runCommand, startServe } from '../testing/built-command.ts';

let folder: string;
let file: string;
let running: RunningCommand | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-faults-'));
  file = join(folder, 'plan.yaml');
});

afterEach(async () => {
  await running?.end();
  running = undefined;
  rmSync(folder, { recursive: true });
});

const oneGateway =
  'rules:\n  - { id: gateway, match: { operation: get-configuration }, act: gateway-502 }\n';

async function serve(args: readonly string[] = []): Promise<ServerReady> {
  const started = await startServe(args);
  running = started.running;
  return started.ready;
}

function faults({ controlUrl, controlToken }: ServerReady, args: readonly string[]) {
  const environment = { FLEETBED_CONTROL_TOKEN: controlToken };
  return runCommand(['faults', ...args, '--control-url', controlUrl], environment);
}

async function meet({ baseUrl }: ServerReady): Promise<number> {
  return (await fetch(baseUrl + operations['get-configuration'].path)).status;
}

describe('fleetbed faults', () => {
  it('adds, lists, checks and clears fault rules', async () => {
    writeFileSync(file, oneGateway);
    const ready = await serve();
    expect((await faults(ready, ['list'])).stdout).toBe('No faults are planned.\n');
    const none = await faults(ready, ['check']);
    expect([none.code, none.stdout]).toEqual([1, expect.stringMatching(/^No fault is planned/)]);
    expect(await faults(ready, ['add', file])).toMatchObject({
      code: 0,
      stdout: 'Added gateway.\n',
    });
    const firstCheck = await faults(ready, ['check']);
    expect([firstCheck.code, firstCheck.stdout]).toEqual([
      1,
      'the planned fault gateway (respond) never fired; its rule matched 0 requests\n',
    ]);
    expect(await meet(ready)).toBe(502);
    const listed = await faults(ready, ['list', '--json']);
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { id: 'gateway', matched: 1, fired: 1, left: 0 },
    ]);
    expect((await faults(ready, ['list'])).stdout).toBe('gateway: matched 1, fired 1, left 0\n');
    expect((await faults(ready, ['check'])).code).toBe(0);
    expect((await faults(ready, ['clear', 'nothing'])).code).toBe(3);
    expect((await faults(ready, ['clear', 'gateway'])).stdout).toBe('Removed 1 rule.\n');
    expect((await faults(ready, ['clear'])).stdout).toBe('Removed 0 rules.\n');
    // Ten commands, each of which takes up to three seconds on a busy machine.
  }, 60_000);

  it('refuses a plan with file, line and column, and exit code 2', async () => {
    writeFileSync(file, 'rules:\n  - id: a\n    act: fly\n');
    const ready = await serve();
    const { code, stderr } = await faults(ready, ['add', file]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${file}:3:10: rules.0.act: must be an action`);
  });

  it("prints the server's refusal of a second rule with the same ID", async () => {
    writeFileSync(file, oneGateway);
    const ready = await serve(['--faults', file]);
    const { code, stderr } = await faults(ready, ['add', file]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('the rule "gateway" already exists'),
    ]);
  });

  it.each([
    ['a file that is not there', ['add', 'nowhere.yaml'], 3],
    ['a tenant that is not there', ['list', '--tenant', 'nowhere'], 3],
    ['no file', ['add'], 2],
    ['a word too many', ['list', 'all'], 2],
  ])('refuses %s with its exit code', async (_, args, code) => {
    const ready = await serve();
    expect((await faults(ready, args)).code).toBe(code);
  });

  it('lists every action and variation without a server', async () => {
    const { code, stdout } = await runCommand(['faults', 'actions']);
    expect(code).toBe(0);
    for (const { kind, does } of actions) expect(stdout).toContain(`${kind}\n  ${does}\n`);
    for (const { id, varies } of variationRows) expect(stdout).toContain(`${id}\n  ${varies}\n`);
    expect(stdout).toContain('gateway-502\n  { kind: respond, status: 502, body: html }\n');
    expect(stdout).toContain('  fields: status, [body], [headers]; when: before, after\n');
  });

  it('numbers rules without an ID, after those that are planned', async () => {
    const ready = await serve();
    writeFileSync(file, 'rules: [{ act: reset }, { act: stall }]');
    expect((await faults(ready, ['add', file])).stdout).toBe('Added rule-1, rule-2.\n');
    expect((await faults(ready, ['add', file])).stdout).toBe('Added rule-3, rule-4.\n');
  });

  it('prints the JSON Schema of a plan without a server', async () => {
    const { code, stdout } = await runCommand(['faults', 'schema']);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ required: ['rules'] }),
    ]);
  });
});

describe('serve with planned faults', () => {
  it('exits with 1 and prints a line for each fault that never fired', async () => {
    writeFileSync(file, oneGateway);
    await serve(['--faults', file]);
    const ended = await running?.end('SIGINT');
    expect([ended?.code, ended?.stderr]).toEqual([
      1,
      'the planned fault gateway (respond) never fired; its rule matched 0 requests\n',
    ]);
  });

  it('exits with 0 when every fault has fired', async () => {
    writeFileSync(file, oneGateway);
    const ready = await serve(['--faults', file]);
    expect(await meet(ready)).toBe(502);
    expect(await running?.end('SIGINT')).toMatchObject({ code: 0, stderr: '' });
  });

  it('does not start with an invalid plan', async () => {
    writeFileSync(file, 'rules: 1');
    const free = ['--port', '0', '--control-port', '0'];
    const { code, stderr } = await runCommand(['serve', ...free, '--faults', file]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`${file}:1:8: rules: must be a list`),
    ]);
  });

  it('exits with 0 without a plan file, even if faults were planned later', async () => {
    writeFileSync(file, oneGateway);
    const ready = await serve();
    await faults(ready, ['add', file]);
    expect(await running?.end('SIGINT')).toMatchObject({ code: 0 });
  });
});
