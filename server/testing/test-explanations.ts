/** Requests explanations in tests, and runs their commands in bash. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Explanation } from '../explain/explain.ts';
import type { TestResponse, TestServer } from './test-server.ts';
import { control } from './test-tenants.ts';

/** Returns the explanation of a refused response. */
export async function explanationOf(
  server: TestServer,
  response: Pick<TestResponse, 'headers'>,
): Promise<Explanation> {
  const id = response.headers.get(`${server.headerPrefix}-RequestID`) ?? '';
  const { status, text } = await control(server, 'GET', `/explanations/${encodeURIComponent(id)}`);
  if (status !== 200) throw new Error(`no explanation of ${id}: ${status} ${text}`);
  return JSON.parse(text) as Explanation;
}

/** An explanation with a request that would succeed. */
export type CorrectedExplanation = Explanation &
  Required<Pick<Explanation, 'command' | 'correctedRequest'>>;

/** Returns the explanation of a refused response; fails the test without a corrected request. */
export async function correctedOf(
  server: TestServer,
  response: Pick<TestResponse, 'headers'>,
): Promise<CorrectedExplanation> {
  const explanation = await explanationOf(server, response);
  const { command, correctedRequest } = explanation;
  if (command === undefined || !correctedRequest) {
    throw new Error(`no corrected request for ${explanation.sentence}`);
  }
  return { ...explanation, command, correctedRequest };
}

/** Words of an expectation that states what is wrong instead of what would be right. */
const refusalText =
  /^(must|is|are|has|have|contains|cannot|there is no)\b|\b(not authorized|not supported|malformed|is unknown|is wrong|no longer|already exists)\b/;

/** Returns the contradictions and gaps in an explanation; the list is empty for a sound one. */
export function contradictionsIn(explanation: Explanation): string[] {
  const { status, sentence, problem, isUnchanged = false, before } = explanation;
  const { path, expected = 'one value', actual = 'another' } = problem;
  const isOfRequest = /^(body|query|path|method)\b/.test(path);
  return [
    ...(expected === actual ? [`expected and actual are both ${expected}`] : []),
    ...(status !== 410 && (sentence.endsWith(`: ${expected}`) || sentence === expected)
      ? [`what is expected is the refusal: ${expected}`]
      : []),
    ...(refusalText.test(expected) ? [`what is expected reads as a refusal: ${expected}`] : []),
    ...(isUnchanged && isOfRequest ? [`${path} is wrong, and sent again as it was`] : []),
    ...(path === 'state' &&
    isUnchanged &&
    before === undefined &&
    !/sleep \d/.test(explanation.command ?? '')
      ? ['the same request is sent again, and nothing is said to be done before']
      : []),
  ].map((problem) => `${problem} (${explanation.status} ${sentence})`);
}

/** The output of a command. */
interface CommandOutput {
  readonly stdout: string;
  readonly stderr: string;
  /** The status of the last response. */
  readonly status: number | undefined;
}

/** Runs lines of bash in a new folder, with these variables. */
export async function runInBash(
  script: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<CommandOutput> {
  const folder = await mkdtemp(join(tmpdir(), 'explained-'));
  try {
    return await bash(script, {
      cwd: folder,
      env: { PATH: process.env.PATH, TMPDIR: folder, ...variables },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

function bash(
  script: string,
  options: { cwd: string; env: Readonly<Record<string, string | undefined>> },
): Promise<CommandOutput> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['--noprofile', '--norc', '-s'], options);
    const written = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        written[stream] += text;
      });
    }
    child.on('error', reject);
    child.on('close', () => {
      const status = [...written.stdout.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].at(-1)?.[1];
      resolve({ ...written, status: status === undefined ? undefined : Number(status) });
    });
    child.stdin.end(script);
  });
}
