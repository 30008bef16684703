import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type RunningServer, startServer } from '../../server/server.ts';
import { projectFolder } from '../testing/documents.ts';

/** The parts of an action that the test reads. */
interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
}

interface Step {
  readonly id?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const read = (path: string) => readFileSync(join(projectFolder, path), 'utf8');
const action: Action = parse(read('.github/actions/fleetbed/action.yml'));
const fleetbed = `${process.execPath} ${join(projectFolder, 'dist/bin/fleetbed.js')}`;

let server: RunningServer;
const folders: string[] = [];

beforeAll(async () => {
  server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent' });
});

afterAll(async () => {
  await server.close();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fleetbed-ci-'));
  folders.push(folder);
  return folder;
}

/** Runs a script with bash as GitHub does for `shell: bash`. */
async function shell(script: string, folder: string, env: Readonly<Record<string, string>>) {
  const file = join(folder, 'step.sh');
  writeFileSync(file, script);
  const args = ['--noprofile', '--norc', '-eo', 'pipefail', file];
  const child = spawn('bash', args, {
    cwd: folder,
    env: { ...process.env, FLEETBED_CONFIG: 'none', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, log };
}

/** Runs the steps of the action with these inputs, as a GitHub runner does. */
async function runAction(given: Readonly<Record<string, string>>) {
  const folder = freshFolder();
  const files = {
    GITHUB_OUTPUT: join(folder, 'output'),
    GITHUB_STEP_SUMMARY: join(folder, 'page'),
  };
  for (const file of Object.values(files)) writeFileSync(file, '');
  const outputs = () =>
    Object.fromEntries(
      readFileSync(files.GITHUB_OUTPUT, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => line.split('=', 2)),
    );
  const inputs: Readonly<Record<string, string | undefined>> = { fleetbed, ...given };
  const value = (expression: string): string => {
    const [, input, output] =
      /^inputs\.([\w-]+)$|^steps\.run\.outputs\.([\w-]+)$/.exec(expression) ?? [];
    if (input !== undefined) return inputs[input] ?? action.inputs[input]?.default ?? '';
    if (output !== undefined) return outputs()[output] ?? '';
    throw new Error(`the test does not know the expression ${expression}`);
  };
  const fillExpressions = (text: string) =>
    text.replace(/\$\{\{ *(.*?) *\}\}/g, (_, each) => value(each));
  let log = '';
  let code: number | null = 0;
  for (const { run, env = {} } of action.runs.steps) {
    if (run === undefined || code !== 0) continue;
    const own = Object.entries(env).map(([name, text]) => [name, fillExpressions(text)]);
    const step = await shell(run, folder, { ...files, ...Object.fromEntries(own) });
    log += step.log;
    code = step.code;
  }
  return {
    code,
    log,
    folder,
    outputs: outputs(),
    page: readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8'),
  };
}

describe('the action for GitHub', { timeout: 120_000 }, () => {
  const login = () => ({
    url: server.baseUrl,
    email: server.adminEmail,
    password: server.adminPassword,
  });

  it('tests a server, and leaves outputs, reports and a summary', async () => {
    const { code, folder, outputs, page, log } = await runAction({
      ...login(),
      run: 'conform',
      arguments: 'authentication/first-contact-is-401\n--jobs=2\n',
    });
    expect(code, log).toBe(0);
    expect(outputs).toEqual({ verdict: 'passed', 'exit-code': '0' });
    expect(page).toMatch(/^### Conformance of http:.*\n\n\*\*pass: /);
    for (const name of [
      'result.json',
      'junit.xml',
      'report.html',
      'summary.md',
      'annotations.txt',
    ]) {
      expect(existsSync(join(folder, 'fleetbed-reports', name)), name).toBe(true);
    }
    expect(log + page).not.toContain(server.adminPassword);
  });

  it('fails with an annotation for each condition that a fleet misses', async () => {
    const { code, outputs, page, log } = await runAction({
      ...login(),
      run: 'simulate',
      arguments:
        '--devices=3\n--keys=ed25519\n--accept\n--duration=2s\n--threshold=95% updated within 1s',
    });
    expect(code, log).toBe(1);
    expect(outputs).toEqual({ verdict: 'failed', 'exit-code': '1' });
    expect(log).toMatch(/^::error title=.*95%25 updated within 1s.*::/m);
    expect(page).toContain('FAILED');
  });

  it('says inconclusive when nothing came from a client', async () => {
    const { code, outputs, log } = await runAction({
      run: 'client',
      'client-command': 'true {server} {dir}',
      arguments: '--contact-time=1s',
    });
    expect(code, log).toBe(4);
    expect(outputs).toEqual({ verdict: 'inconclusive', 'exit-code': '4' });
  });

  it('explains a server that is not there in log and summary', async () => {
    const { code, outputs, page, log } = await runAction({
      ...login(),
      run: 'conform',
      url: 'http://127.0.0.1:1',
    });
    expect(code).toBe(3);
    expect(outputs.verdict).toBe('error');
    expect(log).toContain('fleetbed: http://127.0.0.1:1');
    expect(page).toContain('ended with exit code 3');
  });

  it('refuses a command other than conform, simulate and client', async () => {
    const { code, log } = await runAction({ run: 'confrom' });
    expect(code).toBe(2);
    expect(log).toContain(
      '::error title=Fleetbed::the input run must be conform, simulate or client',
    );
  });
});

describe('the job for GitLab', { timeout: 120_000 }, () => {
  it('writes the reports that it declares as artifacts', async () => {
    const { '.fleetbed': job } = parse(read('.github/ci/gitlab.yml'));
    const folder = freshFolder();
    const { code, log } = await shell(job.script.join('\n'), folder, {
      ...job.variables,
      FLEETBED: fleetbed,
      FLEETBED_ARGUMENTS: 'conform authentication/first-contact-is-401',
      STAGING_URL: server.baseUrl,
      FLEETBED_EMAIL: server.adminEmail,
      FLEETBED_PASSWORD: server.adminPassword,
    });
    expect(code, log).toBe(0);
    expect(existsSync(join(folder, job.artifacts.reports.junit))).toBe(true);
  });
});
