import { tmpdir } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { AdminFailure } from '../../context/target-admin.ts';
import { Target } from '../../target/target.ts';
import { TransportFailure } from '../../target/transport-failure.ts';
import { MissingCapability } from '../missing-capability.ts';
import { HookAdmin } from './hook-admin.ts';
import { HookControl } from './hook-control.ts';
import { readHookFile } from './hook-file.ts';
import { hookStepNames } from './hook-steps.ts';
import { Hooks } from './hooks.ts';

const baseUrl = 'http://127.0.0.1:9';

/** Hooks that run the same Node script for every step. */
function hooksOf(script: string, more: object = {}) {
  const command = [process.execPath, '--input-type=module', '-e', script];
  const book = readHookFile(JSON.stringify({ command, ...more }), tmpdir());
  const target = new Target({ baseUrl, clock: systemClock, requestTimeLimitMs: 5000 });
  onTestFinished(() => target.close());
  const ender = new AbortController();
  const client = target.newClient({ signal: ender.signal });
  return { hooks: new Hooks(book, baseUrl), client, ender, target };
}

const prints = (response: unknown): string =>
  `process.stdout.write(${JSON.stringify(JSON.stringify(response))})`;

/** Prints its input as the ID of a deployment. */
const echo = `import { text } from 'node:stream/consumers';
process.stdout.write(JSON.stringify({ deploymentId: await text(process.stdin) }));`;

/** Writes without end, even if the output is not read. */
const flood = `import { writeSync } from 'node:fs';
for (;;) try { writeSync(1, 'x'.repeat(65536)); } catch (error) { if (error.code !== 'EAGAIN') throw error; }`;

describe('a hook', () => {
  it('receives step, base URL, tenant and input on standard input, and no arguments', async () => {
    const { hooks, client } = hooksOf(echo);
    const { deploymentId } = await hooks.run(client, 'deploy', { deployment: { name: 'one' } });
    expect(JSON.parse(deploymentId)).toEqual({
      step: 'deploy',
      baseUrl,
      tenant: null,
      input: { deployment: { name: 'one' } },
    });
    const within = await hooks.within('t1').run(client, 'deploy');
    expect(JSON.parse(within.deploymentId)).toMatchObject({ tenant: 't1', input: {} });
  });

  it('may print nothing for a step without a result, and may leave its input unread', async () => {
    const { hooks, client } = hooksOf('');
    expect(await hooks.run(client, 'accept', { filler: 'x'.repeat(500_000) })).toEqual({});
  });

  it('is recorded with its input, its output and its standard error', async () => {
    const { hooks, client } = hooksOf("console.error('slowly'); console.log('{}')");
    await hooks.run(client, 'abort', { deploymentId: 'd1' });
    expect(client.exchangeList.exchanges).toMatchObject([
      {
        request: { line: 'HOOK abort', body: expect.stringContaining('"deploymentId":"d1"') },
        response: { status: 0, headers: { 'standard-error': 'slowly' }, body: '{}\n' },
      },
    ]);
  });

  it('is started without a shell', async () => {
    const { hooks, client } = hooksOf('process.exit(1)', {
      steps: { accept: [process.execPath, '-e', 'process.exit(1)', '; echo {}'] },
    });
    await expect(hooks.run(client, 'accept')).rejects.toThrow(AdminFailure);
  });
});

describe('a hook that fails', () => {
  it.each([
    [
      'with exit code 1',
      "console.error('no such device'); process.exit(1)",
      'exit code 1: no such',
    ],
    ['without a word', 'process.exit(7)', 'exit code 7: no message'],
    ['with no JSON', "console.log('done')", 'done'],
    ['with JSON of another form', prints({ id: 7 }), 'deploymentId'],
    ['by a signal', "process.kill(process.pid, 'SIGTERM')", 'killed by a signal'],
    ['by a flood', flood, 'more than 1048576 bytes'],
  ])('leaves the case inconclusive: %s', async (_, script, message) => {
    const { hooks, client } = hooksOf(script);
    const running = hooks.run(client, 'deploy');
    await expect(running).rejects.toThrow(AdminFailure);
    await expect(running).rejects.toThrow(message);
    expect(client.exchangeList.exchanges[0]?.failure).toContain(message);
  });

  it('names the missing program as the cause', async () => {
    const { hooks, client } = hooksOf('', { steps: { accept: ['./no-such-program'] } });
    await expect(hooks.run(client, 'accept')).rejects.toThrow('could not be started');
  });

  it('reports only the end of its standard error', async () => {
    const { hooks, client } = hooksOf(
      "process.stderr.write('a'.repeat(200000) + 'the end', () => process.exit(1))",
    );
    const failure = await hooks.run(client, 'accept').catch((error: Error) => error);
    expect(String(failure)).toMatch(/a{100}the end$/);
    expect(String(failure).length).toBeLessThan(5000);
  });

  it('is killed at the time limit, together with the processes that it started', async () => {
    const script = `import { spawn } from 'node:child_process';
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
      process.stderr.write(String(child.pid)); setInterval(() => {}, 1000);`;
    const { hooks, client } = hooksOf(script, { timeLimitSeconds: 1 });
    await expect(hooks.run(client, 'accept')).rejects.toMatchObject({
      name: 'TransportFailure',
      code: 'request-time-limit',
    });
  });

  it('is killed when its case ends', async () => {
    const { hooks, client, ender } = hooksOf('setInterval(() => {}, 1000)');
    const running = hooks.run(client, 'accept');
    ender.abort();
    await expect(running).rejects.toThrow(TransportFailure);
  });
});

describe('a step that no hook can do', () => {
  it('is a missing capability when no command is configured for the step', async () => {
    const { hooks, client } = hooksOf('', { steps: { accept: null } });
    const running = hooks.run(client, 'reject');
    await expect(running).rejects.toThrow(MissingCapability);
    await expect(running).rejects.toMatchObject({ capability: 'user/reject' });
    expect(client.exchangeList.exchanges).toEqual([]);
  });

  it('is a missing capability when the hook exits with code 3', async () => {
    const { hooks, client } = hooksOf("console.error('not on this plan'); process.exit(3)");
    const running = hooks.run(client, 'configure');
    await expect(running).rejects.toMatchObject({ capability: 'user/configure' });
    await expect(running).rejects.toThrow('not on this plan');
  });
});

describe('the target admin that uses hooks', () => {
  const response = {
    device: { id: 'd1', identity_data: {}, status: 'accepted', auth_sets: [] },
    deviceId: 'd1',
    artifactId: null,
    deploymentId: 'p1',
    deviceDeployment: null,
    log: 'a line',
    configured: { a: 'b' },
    reported: {},
    status: 'connected',
    attributes: [{ name: 'n', scope: 'inventory', value: 1 }],
    alerts: [{ name: 'n', level: 'OK' }],
    monitors: [{ name: 'n', status: 'on', type: 't' }],
  };

  it('reads the response of every hook step', async () => {
    const { hooks, client } = hooksOf(prints(response));
    const admin = new HookAdmin(hooks, client, undefined);
    const key = { publicKeyPem: 'pem' } as never;
    expect((await admin.findDevice({ serial: '7' }))?.id).toBe('d1');
    expect((await admin.device('d1'))?.status).toBe('accepted');
    expect(await admin.preauthorize({ serial: '7' }, key)).toBe('d1');
    await admin.decide('d1', key, 'rejected');
    await admin.decommission('d1');
    expect(await admin.uploadArtifact('a.mender', Buffer.from('ø'))).toBeUndefined();
    expect(await admin.findArtifact('a', 'board')).toBeUndefined();
    await admin.deleteArtifact('a1');
    expect(await admin.deploy({ name: 'n', artifact_name: 'a' })).toBe('p1');
    expect(await admin.findDeployment('n')).toBe('p1');
    await admin.abort('p1');
    expect(await admin.deviceDeployment('p1', 'd1')).toBeUndefined();
    expect(await admin.deploymentLog('p1', 'd1')).toBe('a line');
    await admin.configure('d1', { a: 'b' });
    expect(await admin.deployConfiguration('d1')).toBe('p1');
    expect((await admin.configuration('d1')).configured).toEqual({ a: 'b' });
    expect(await admin.connection('d1')).toBe('connected');
    expect(await admin.attributes('d1')).toHaveLength(1);
    expect(await admin.alerts('d1')).toHaveLength(1);
    expect(await admin.monitorConfiguration('d1')).toHaveLength(1);
    const steps = client.exchangeList.exchanges.map(({ request }) => request.line.split(' ')[1]);
    const controlSteps = [
      'login',
      'accept',
      'postpone',
      'advance-clock',
      'fail-next',
      'limit-rate',
    ];
    const tenants = ['powerless-user', 'make-tenant', 'suspend-tenant', 'remove-tenant'];
    expect([...steps, ...controlSteps, ...tenants].sort()).toEqual([...hookStepNames].sort());
  });

  it('reaches the audit log only with the token of a user', () => {
    const { hooks, client } = hooksOf('');
    expect(() => new HookAdmin(hooks, client, undefined).caller).toThrow(MissingCapability);
    expect(new HookAdmin(hooks, client, { token: 'token' }).caller.client).toBe(client);
  });
});

describe('the target control that uses hooks', () => {
  it('offers a capability only if all steps of the capability have a command', () => {
    const { hooks, target } = hooksOf('', {
      steps: { 'advance-clock': null, 'make-tenant': null, 'limit-rate': null },
    });
    expect([...new HookControl(hooks, target.newClient()).offers]).toEqual([
      'clock-control',
      'rate-control',
    ]);
  });

  it('controls the whole target, and a tenant that a hook has created', async () => {
    const { hooks, client, target } = hooksOf(
      prints({ tenantId: 't1', tenantToken: 'tenant secret', userToken: null }),
    );
    const control = new HookControl(hooks, target.newClient()).on(client);
    await control.advance(60);
    await control.failNext(['connect']);
    await control.limitRate(undefined);
    const secrets: string[] = [];
    const maskSecret = (secret: string) => secrets.push(secret);
    const tenant = await control.newTenant({ client, name: 'n', maskSecret });
    await tenant.control.suspend();
    await tenant.remove();
    expect(secrets).toEqual(['tenant secret']);
    expect(tenant.tenantToken).toBe('tenant secret');
    const bodies = client.exchangeList.exchanges.map(({ request }) =>
      JSON.parse(request.body ?? ''),
    );
    expect(bodies.map(({ step, tenant: id, input }) => [step, id, input])).toEqual([
      ['advance-clock', null, { seconds: 60 }],
      ['fail-next', null, { operations: ['connect'] }],
      ['limit-rate', null, { limit: null }],
      ['make-tenant', null, { name: 'n' }],
      ['suspend-tenant', 't1', {}],
    ]);
  });

  it('never suspends the tenant that all cases share', async () => {
    const { hooks, client } = hooksOf('');
    await expect(new HookControl(hooks, client).suspend()).rejects.toThrow(MissingCapability);
    expect(client.exchangeList.exchanges).toEqual([]);
  });

  it('masks the token of a user without permissions', async () => {
    const { hooks, client } = hooksOf(prints({ token: 'weak' }));
    const masked: unknown[] = [];
    const order = {
      client,
      name: 'n',
      maskSecret: (...said: unknown[]) => masked.push(said),
    };
    expect(await new HookControl(hooks, client).powerlessUser(order)).toBe('weak');
    expect(masked).toEqual([['weak', 'user-token']]);
  });
});

describe('a hook file', () => {
  it('assigns one common command to every step, or a separate command to a step', () => {
    const all = readHookFile('command: [one]', '/folder');
    expect(all).toMatchObject({ timeLimitMs: 30_000, folder: '/folder' });
    expect([...all.commands.keys()]).toEqual(hookStepNames);
    const some = readHookFile('{command: [one], steps: {accept: [two, x], reject: }}', '/');
    expect([...some.commands]).toEqual([
      ['accept', ['two', 'x']],
      ['reject', ['one']],
    ]);
  });

  it.each([
    ['nothing', '', 'line 1: must be an object, not null'],
    ['no command', 'timeLimitSeconds: 5', 'must have a command, or a command for each step'],
    ['no YAML', 'command: [', 'Flow sequence'],
    ['a command that is a string', 'command: rm -rf /', 'command: must be a list of strings'],
    ['an empty command', 'command: []', 'command: must name a program'],
    ['a program without a name', "command: ['']", 'command: must name a program'],
    ['a step that there is not', '{command: [a], steps: {fly: [b]}}', 'must be a step: login'],
    [
      'a step without any command',
      'steps: {accept: }',
      'has no command, and there is no common command',
    ],
    ['no time', '{command: [a], timeLimitSeconds: 0}', 'timeLimitSeconds: must be at least 1'],
    ['too much time', '{command: [a], timeLimitSeconds: 601}', 'must be at most 600'],
    ['another member', '{command: [a], shell: true}', 'shell'],
    ['too much text', `# ${'x'.repeat(100_000)}`, 'more than 100000 characters'],
  ])('is refused with %s', (_, text, message) => {
    expect(() => readHookFile(text, '/')).toThrow(message);
  });
});
