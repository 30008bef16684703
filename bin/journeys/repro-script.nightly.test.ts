import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CaseVerdict, listCases, runConformance } from '../../conformance/conformance.ts';
import { runLoneBlock } from '../../conformance/testing/bash.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { startTestServer, type TestServer } from '../../server/testing/test-server.ts';

/**
 * The scripts take some minutes on two quiet cores, mostly to start curl and openssl 16,000 times.
 */
const RUN_MAX_MS = 600_000;
const SCRIPTS_MAX_MS = 1_800_000;
/** Workers with a server each; they run in parallel because WebSocket scripts mostly wait. */
const WORKERS = 6;

let server: TestServer;
let verdicts: readonly CaseVerdict[];

beforeAll(async () => {
  server = await startTestServer();
  const { baseUrl, headerPrefix, adminToken } = server;
  ({ verdicts } = await runConformance({
    baseUrl,
    headerPrefix,
    credentials: { token: adminToken },
    control: { url: server.controlUrl, token: server.controlToken },
    clock: systemClock,
    random: seededRandom('scripts'),
    disruptive: true,
    allEvidence: true,
    jobs: 4,
    caseTimeLimitMs: 300_000,
    requestTimeLimitMs: 120_000,
  }));
}, RUN_MAX_MS);

afterAll(() => server?.close());

/** Returns the status of each step that the script states. */
function saidStatuses(script: string): readonly string[] {
  return [
    ...script.matchAll(/^# Step \d+ of \d+: .*?; (?:answered with (\d+)|not answered)/gm),
  ].flatMap(([, status]) => status ?? []);
}

/** Returns the received statuses without 100, which only permits a client to send its body. */
function seenStatuses(stdout: string): readonly string[] {
  return [...stdout.matchAll(/^HTTP\/1\.1 (?!100\b)(\d+)/gm)].map(([, status = '']) => status);
}

/** Returns the differences between the stated and the received statuses of a script. */
async function differenceOf(
  { id, reproScript: script = '' }: CaseVerdict,
  scriptServer: TestServer,
): Promise<readonly string[]> {
  const variables = {
    USER_TOKEN: scriptServer.adminToken,
    CONTROL_TOKEN: scriptServer.controlToken,
  };
  const own = script
    .replaceAll(server.baseUrl, scriptServer.baseUrl)
    .replaceAll(server.controlUrl, scriptServer.controlUrl);
  const { stdout, stderr } = await runLoneBlock(own, variables);
  const [said, seen] = [saidStatuses(script).join(), seenStatuses(stdout).join()];
  // openssl prints dots while it searches for primes.
  const complaint = stderr.replace(/^[.+*\n]+/, '');
  if (said !== '' && said === seen && complaint === '') return [];
  return [`${id}: said ${said}, seen ${seen} ${complaint}`];
}

describe('the repro script of every case', () => {
  it('reproduces the statuses that the suite received when run as printed', {
    timeout: SCRIPTS_MAX_MS,
  }, async () => {
    const lengthOf = ({ reproScript = '' }: CaseVerdict): number => reproScript.length;
    // The longest scripts run first, so that none of them delays the end of the test.
    const waiting = [...verdicts]
      .sort((one, other) => lengthOf(other) - lengthOf(one))
      [Symbol.iterator]();
    const differences: string[] = [];
    const runScript = async (): Promise<void> => {
      const scriptServer = await startTestServer();
      for (const verdict of waiting)
        differences.push(...(await differenceOf(verdict, scriptServer)));
      await scriptServer.close();
    };
    await Promise.all(Array.from({ length: WORKERS }, runScript));
    expect(differences).toEqual([]);
    expect(verdicts.map(({ id }) => id)).toEqual(listCases().map(({ id }) => id));
  });

  it('contains all steps and all request bodies', () => {
    const cut = verdicts.filter(({ reproScript = '' }) =>
      /are left out\.$|body\.bin:/m.test(reproScript),
    );
    expect(cut.map(({ id }) => id)).toEqual([]);
    expect(verdicts.some(({ reproScript }) => reproScript?.includes('gunzip'))).toBe(true);
  });
});
