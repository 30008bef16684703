import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConformanceOptions,
  type ConformanceResult,
  readHookFile,
  runConformance,
} from '../../conformance/conformance.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { type RunningServer, startServer } from '../../server/server.ts';

const SUITE_MAX_MS = 120_000;
const folder = fileURLToPath(new URL('../testing', import.meta.url));

let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent' });
  process.env.HOOK_TOKEN = server.adminToken;
});

afterAll(async () => {
  delete process.env.HOOK_TOKEN;
  delete process.env.OTHER_TOKEN;
  await server.close();
});

/** Judges a server, by default the reference server, with a few cases. */
function judge(
  selection: readonly string[],
  more: Partial<ConformanceOptions> = {},
  { baseUrl, headerPrefix }: Pick<RunningServer, 'baseUrl' | 'headerPrefix'> = server,
): Promise<ConformanceResult> {
  return runConformance({
    baseUrl,
    headerPrefix,
    credentials: 'none',
    clock: systemClock,
    random: seededRandom(selection.join()),
    caseTimeLimitMs: 60_000,
    requestTimeLimitMs: 30_000,
    jobs: 4,
    selection,
    ...more,
  });
}

/** Returns the verdicts that a successful run does not contain, as lines of text. */
function troubles({ verdicts }: ConformanceResult): string[] {
  return verdicts
    .filter(({ verdict }) => !['pass', 'observed', 'skip'].includes(verdict))
    .map(({ id, verdict, actual, reason }) => `${verdict} ${id}: ${actual ?? reason?.text}`);
}

function skippedFor({ verdicts }: ConformanceResult): string[] {
  const skipped = verdicts.filter(({ verdict }) => verdict === 'skip');
  return [...new Set(skipped.map(({ reason }) => reason?.code ?? ''))].sort();
}

const hooks = readHookFile(
  JSON.stringify({ command: [process.execPath, 'control-hook.mjs'], timeLimitSeconds: 60 }),
  folder,
);

describe('a server that is controlled by hooks', () => {
  it('is judged without a call to its management API', {
    timeout: SUITE_MAX_MS,
  }, async () => {
    const result = await judge(['deployment-status/success', 'deployment-log/'], { hooks });
    expect(troubles(result)).toEqual([]);
    expect(result.totals.pass).toBeGreaterThan(5);
    expect(skippedFor(result)).toEqual([]);
    expect(result.leftBehind).toEqual([]);
  });

  it('has cases skipped by the name of the step that the hook cannot do', {
    timeout: SUITE_MAX_MS,
  }, async () => {
    const result = await judge(['configuration/', 'time/token-lasts'], { hooks });
    expect(troubles(result)).toEqual([]);
    expect(skippedFor(result)).toEqual(['user/advance-clock', 'user/configure']);
    expect(result.musts.undecidedMusts.map(({ id }) => id)).toContain(
      'tokens.device-token-lasts-a-week',
    );
  });

  it('cannot be judged when the login of its hook fails', {
    timeout: SUITE_MAX_MS,
  }, async () => {
    const broken = readHookFile('{command: [node, control-hook.mjs], steps: {login: }}', '/');
    await expect(judge(['inventory/'], { hooks: broken })).rejects.toMatchObject({
      code: 'hook-login-failed',
    });
  });
});

describe('the control listener in a conformance run', () => {
  it('fails the start with a wrong token or a wrong URL', async () => {
    const url = server.controlUrl;
    await expect(judge(['time/'], { control: { url, token: 'wrong' } })).rejects.toMatchObject({
      code: 'control-refused',
      message: expect.not.stringContaining('wrong'),
    });
    const nowhere = { url: 'http://127.0.0.1:1', token: server.controlToken };
    await expect(judge(['time/'], { control: nowhere })).rejects.toMatchObject({
      code: 'control-refused',
    });
  });

  it('keeps no tenant of the suite and reveals no token', { timeout: SUITE_MAX_MS }, async () => {
    const { controlUrl: url, controlToken: token, adminToken } = server;
    const credentials = { token: adminToken };
    const result = await judge(['tenants/', 'roles/'], { credentials, control: { url, token } });
    expect(troubles(result)).toEqual([]);
    expect(skippedFor(result)).toEqual([]);
    const headers = { Authorization: `Bearer ${token}` };
    expect(await (await fetch(`${url}/tenants`, { headers })).json()).toHaveLength(1);
    expect(JSON.stringify(result)).not.toContain(token);
  });
});

describe('the capabilities of a target', () => {
  const ofOpenSource = ['artifact-listing', 'audit-log', 'deployments-v2', 'monitor'];

  it('are all detected on the reference server with a few requests', async () => {
    const { capabilities } = await judge([], { ids: new Set() });
    const parts = capabilities.filter(({ evidence }) => evidence?.includes('was answered'));
    expect(parts.map(({ probed }) => probed)).toEqual(parts.map(() => 'offered'));
    expect(parts).toHaveLength(8);
  });

  it('are detected as missing under a dialect, and the cases that need them are skipped', {
    timeout: SUITE_MAX_MS,
  }, async () => {
    const otherServer = await startServer({
      port: 0,
      controlPort: 0,
      logLevel: 'silent',
      dialects: new Set(['open-source']),
    });
    try {
      const credentials = { token: otherServer.adminToken };
      const result = await judge(
        ['monitor/', 'audit-log/', 'artifacts/list'],
        { credentials },
        otherServer,
      );
      const missing = result.capabilities.filter(({ probed }) => probed === 'missing');
      expect(missing.map(({ capability }) => capability)).toEqual(
        expect.arrayContaining([...ofOpenSource, 'update-control-map']),
      );
      expect(troubles(result)).toEqual([]);
      const parts = expect.arrayContaining(['artifact-listing', 'audit-log', 'monitor']);
      expect(skippedFor(result)).toEqual(parts);
      expect(result.totals.pass).toBe(0);
      expect(result.outcome).toBe('inconclusive');
      // An edition without tenants has no roles, so it lacks operations that role cases call.
      const script = 'process.stdout.write(JSON.stringify({ token: process.env.OTHER_TOKEN }))';
      process.env.OTHER_TOKEN = otherServer.adminToken;
      const steps = { login: null, 'powerless-user': null };
      const command = [process.execPath, '-e', script];
      const given = readHookFile(JSON.stringify({ command, steps }), folder);
      expect(
        skippedFor(await judge(['roles/forbidden-on'], { hooks: given }, otherServer)),
      ).toEqual(['role-control']);
      const declared = { with: ['monitor', 'inventory'], without: ['audit-log'] } as const;
      const held = await judge([], { ids: new Set(), credentials, declared }, otherServer);
      expect(held.outcome).toBe('fail');
      expect(held.verdicts).toMatchObject([
        {
          id: 'capabilities/monitor',
          verdict: 'fail',
          actual:
            'post-alerts was answered with 404, post-monitor-configuration was answered with 404',
          exchanges: [{ response: { status: 404 } }, { response: { status: 404 } }],
        },
      ]);
    } finally {
      await otherServer.close();
    }
  });

  it('are reported if declared missing although they work, and their cases are skipped', async () => {
    const result = await judge(['monitor/'], { declared: { without: ['monitor'] } });
    const [message, ...otherVerdicts] = result.verdicts;
    expect(message).toMatchObject({ id: 'capabilities/monitor', verdict: 'observed' });
    expect(message?.observation).toContain('but the target has it');
    expect(new Set(otherVerdicts.map(({ verdict }) => verdict))).toEqual(new Set(['skip']));
    const row = result.capabilities.find(({ capability }) => capability === 'monitor');
    expect(row).toMatchObject({ declared: 'missing', probed: 'offered' });
    expect(row?.contradiction).toContain('declared as missing');
  });

  it('fail if they are declared but unavailable in this run', async () => {
    const result = await judge([], { ids: new Set(), declared: { with: ['clock-control'] } });
    expect(result.verdicts).toMatchObject([{ id: 'capabilities/clock-control', verdict: 'fail' }]);
  });

  it('are accepted as declared when probing is off', async () => {
    const { capabilities } = await judge([], { ids: new Set(), probe: false });
    const probed = capabilities.filter(({ capability }) => capability === 'connect');
    expect(probed).toMatchObject([{ declared: 'undeclared', probed: 'unknown' }]);
  });
});
