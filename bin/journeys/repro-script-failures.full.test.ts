import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CaseVerdict, runConformance } from '../../conformance/conformance.ts';
import { ActiveDefect } from '../../conformance/self-test/active-defect.ts';
import type { Defect } from '../../conformance/self-test/defect.ts';
import { DefectProxy } from '../../conformance/self-test/proxy.ts';
import { runLoneBlock } from '../../conformance/testing/bash.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { startTestServer, type TestServer } from '../../server/testing/test-server.ts';

/** Cases with all kinds of steps: two devices, a user, polls, links, and a tenant of the case. */
const selection = [
  'configuration/written-is-read',
  'configuration/set-by-user',
  'inventory/put-is',
  'inventory/patch-unauthenticated',
  'authentication/first-contact',
  'authentication/p',
  'authorization/put-configuration-with',
  'authorization/put-attributes-with',
  'configuration-download/',
  'faults/',
];

/** A defect that answers devices with statuses outside the contract. */
const oddStatuses: Defect = {
  id: 'odd-statuses',
  title: 'Whatever a device writes or gets is answered by another status.',
  violates: ['configuration.write'],
  operations: [
    'put-configuration',
    'get-configuration',
    'patch-attributes',
    'put-attributes',
    'download-configuration',
    'list-artifacts',
    'get-next-deployment',
  ],
  alter: () => ({
    response: (response, { operation, headers }) => {
      if (operation === 'get-next-deployment' && response.status === 200) return response;
      return {
        ...response,
        status: headers.authorization === undefined ? 203 : response.status + 4,
      };
    },
  }),
};

let server: TestServer;
let proxy: DefectProxy;
let failures: readonly CaseVerdict[];

beforeAll(async () => {
  server = await startTestServer();
  const { baseUrl: targetUrl, headerPrefix, adminToken } = server;
  const random = seededRandom('repro scripts');
  proxy = await DefectProxy.open({
    targetUrl,
    names: vendorNames(headerPrefix),
    userToken: adminToken,
    clock: systemClock,
    random,
  });
  proxy.activate(new ActiveDefect(oddStatuses));
  const { verdicts } = await runConformance({
    baseUrl: proxy.baseUrl,
    headerPrefix,
    credentials: { token: adminToken },
    control: { url: server.controlUrl, token: server.controlToken },
    probe: false,
    clock: systemClock,
    random,
    selection,
    jobs: 8,
    caseTimeLimitMs: 20_000,
    requestTimeLimitMs: 5000,
  });
  failures = verdicts.filter(({ verdict }) => verdict === 'fail');
}, 60_000);

afterAll(async () => {
  await proxy?.close();
  await server?.close();
});

/** Returns the status of each step that the script states. */
function saidStatuses(script: string): readonly string[] {
  return [...script.matchAll(/^# Step \d+ of \d+: .*?; answered with (\d+)/gm)].map(
    ([, status = '']) => status,
  );
}

function seenStatuses(stdout: string): readonly string[] {
  return [...stdout.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status = '']) => status);
}

describe('the repro script of a failed case', { timeout: 120_000 }, () => {
  it('exists for each failure, with every step in order', () => {
    expect(failures.length).toBeGreaterThan(15);
    expect(failures.some(({ reproScript: script }) => script?.includes('/tenants'))).toBe(true);
    for (const { id, reproScript: script = '', exchanges = [] } of failures) {
      const headings = script.match(/^# Step /gm) ?? [];
      expect([id, headings.length > 0 && headings.length <= exchanges.length]).toEqual([id, true]);
      expect(script).toContain(`# Step ${headings.length} of ${headings.length}: `);
    }
  });

  it('reproduces each step of the suite with new IDs and tokens', async () => {
    const { adminToken: USER_TOKEN, controlToken: CONTROL_TOKEN } = server;
    // Values that a case invents are masked too, so this test invents one as well.
    const variables = { USER_TOKEN, CONTROL_TOKEN, LINK_SIGNATURE: 'altered' };
    const outcomes: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const { id, reproScript: script = '' } of failures) {
      const { code, stdout, stderr } = await runLoneBlock(script, variables);
      outcomes[id] = { code, seen: seenStatuses(stdout), stderr: stderr.replace(/^[.+*\n]+/, '') };
      expected[id] = { code: 1, seen: saidStatuses(script), stderr: '' };
    }
    expect(outcomes).toEqual(expected);
  });

  it('ends with exit code 0 at a server without the defect, or 2 if it altered a step before', async () => {
    const { adminToken: USER_TOKEN, controlToken: CONTROL_TOKEN } = server;
    const variables = { USER_TOKEN, CONTROL_TOKEN, LINK_SIGNATURE: 'altered' };
    const codes: Record<string, unknown> = {};
    for (const { id, reproScript: script = '' } of failures) {
      const sound = script.replaceAll(proxy.baseUrl, server.baseUrl);
      codes[id] = (await runLoneBlock(sound, variables)).code;
    }
    const alteredBefore = ['faults/fault-is-an-error-body', 'faults/limit-without-a-token'];
    const expected = failures.map(({ id }) => [id, alteredBefore.includes(id) ? 2 : 0]);
    expect(codes).toEqual(Object.fromEntries(expected));
  });
});
