import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CaseVerdict, runConformance } from '../conformance/conformance.ts';
import { runLoneBlock } from '../conformance/testing/bash.ts';
import { systemClock } from '../fixtures/clock.ts';
import { seededRandom } from '../fixtures/random.ts';
import { startTestServer, type TestServer } from '../server/testing/test-server.ts';

/** Every case of every area takes a quarter of an hour; else one of each kind of step. */
const isWhole = process.env.FLEETBED_FULL_TESTS === '1';
const PLAY_MAX_MS = isWhole ? 600_000 : 60_000;
const SCRIPTS_MAX_MS = isWhole ? 3_600_000 : 120_000;
/** Side by side, each on a server of its own. */
const PLAYERS = isWhole ? 3 : 1;

const sample = [
  'artifacts/name-is-that-of-the-file',
  'artifact-link/download-resumes-anywhere',
  'artifact-link/strangers-get-no-link',
  'authorization/put-configuration-with-invalid-token-is-401',
  'deployment-log/upload-is-204',
  'next-deployment/get-changed-request-is-409',
  'artifact-link/altered-link-is-refused',
  'tenants/token-of-a-suspended-tenant',
  'time/expired-token-is-refused',
];

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
    selection: isWhole ? [] : sample,
    disruptive: true,
    allEvidence: true,
    jobs: 4,
    caseTimeLimitMs: 300_000,
    requestTimeLimitMs: 120_000,
  }));
}, PLAY_MAX_MS);

afterAll(() => server?.close());

/** The status of each step, as the script says that it was. */
function saidStatuses(script: string): readonly string[] {
  return [...script.matchAll(/^# Step \d+ of \d+: .*?; (?:answered (\d+)|not answered)/gm)].flatMap(
    ([, status]) => status ?? [],
  );
}

function seenStatuses(stdout: string): readonly string[] {
  return [...stdout.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status = '']) => status);
}

/** What differs between what a script says and what it does. */
async function differenceOf(
  id: string,
  script: string,
  on: TestServer,
): Promise<readonly string[]> {
  const variables = { USER_TOKEN: on.adminToken, CONTROL_TOKEN: on.controlToken };
  const own = script
    .replaceAll(server.baseUrl, on.baseUrl)
    .replaceAll(server.controlUrl, on.controlUrl);
  const { stdout, stderr } = await runLoneBlock(own, variables);
  const [said, seen] = [saidStatuses(script).join(), seenStatuses(stdout).join()];
  // While it looks for primes, openssl prints dots.
  const complaint = stderr.replace(/^[.+*\n]+/, '');
  if (said === seen && complaint === '') return [];
  return [`${id}: said ${said}, seen ${seen} ${complaint}`];
}

describe('the script of every case', () => {
  it('comes, run as it is printed, to what the suite saw', {
    timeout: SCRIPTS_MAX_MS,
  }, async () => {
    const waiting = verdicts[Symbol.iterator]();
    const differences: string[] = [];
    const play = async (): Promise<void> => {
      const on = await startTestServer();
      for (const { id, byHand = '' } of waiting) {
        differences.push(...(await differenceOf(id, byHand, on)));
      }
      await on.close();
    };
    await Promise.all(Array.from({ length: PLAYERS }, play));
    expect(differences).toEqual([]);
    expect(verdicts.length).toBeGreaterThanOrEqual(sample.length);
    expect(verdicts.some(({ byHand }) => byHand?.includes('gunzip'))).toBe(true);
  });
});
