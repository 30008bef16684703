/**
 * Runs an example client of `fixtures/example-clients` against the built server, as a newcomer
 * would.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { writeArtifact } from '../../fixtures/formats/mender-artifact-writer.ts';
import type { ServerReady } from '../server-access/ready.ts';
import { type RunningCommand, runCommand, startServe } from './built-command.ts';

/** Returns the path of a file in `fixtures/example-clients`. */
export const exampleSource = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/example-clients/${name}`, import.meta.url));

/** The command of each example that needs no compiler, without its options. */
export const examples: readonly (readonly [name: string, command: readonly string[]])[] = [
  ['Python', ['python3', exampleSource('client.py')]],
  ['Bash', ['bash', exampleSource('client.sh')]],
];

/** The parts of a client test's JSON that the tests of the examples read. */
interface ClientTestResult {
  readonly outcome: string;
  readonly cuts: readonly { readonly moment: string; readonly reportedFalseSuccess: boolean }[];
  readonly duties: readonly {
    readonly duty: string;
    readonly level: string;
    readonly state: string;
    readonly violations: readonly object[];
  }[];
}

/**
 * Asserts that an example breaks no MUST in the quick client test, nor after it is killed at any
 * moment.
 */
export async function expectKeptDuties(command: readonly string[]): Promise<void> {
  const options = '--server {server} --ca {ca} --dir {dir} --interval 1';
  const client = `${command.map((word) => `'${word}'`).join(' ')} ${options}`;
  const args = ['conform', 'client', '--command', client, '--cuts', '--fail-on', 'must', '--json'];
  const { code, stdout, stderr } = await runCommand(args);
  const { outcome, cuts, duties } = JSON.parse(stdout) as ClientTestResult;
  const brokenDuties = duties.filter(({ level, state }) => level === 'must' && state === 'broken');
  const falseSuccesses = cuts.filter((cut) => cut.reportedFalseSuccess);
  const summary = { outcome, broken: brokenDuties, falseSuccesses, code };
  expect(summary, stderr).toEqual({ outcome: 'met', broken: [], falseSuccesses: [], code: 0 });
  expect(cuts.length).toBeGreaterThan(0);
}

interface JournalEntry {
  readonly operation?: string;
  readonly status: number;
  /** The reported status of the deployment. */
  readonly report?: string;
  readonly requestBody?: unknown;
}

/** A server, and one example client that runs against it. */
export class Trial {
  readonly folder = mkdtempSync(join(tmpdir(), 'fleetbed-example-'));
  readonly running: RunningCommand;
  readonly ready: ServerReady;
  /** The option that names the certificate of the server's authority; empty without TLS. */
  readonly ca: readonly string[];
  #client: ChildProcess | undefined;
  #output = '';

  private constructor(running: RunningCommand, ready: ServerReady) {
    this.running = running;
    this.ready = ready;
    const file = join(this.folder, 'ca.pem');
    this.ca = ready.tls?.caPem === undefined ? [] : ['--ca', file];
    if (ready.tls?.caPem !== undefined) writeFileSync(file, ready.tls.caPem);
  }

  static async start(serverOptions: readonly string[]): Promise<Trial> {
    const { running, ready } = await startServe(serverOptions);
    return new Trial(running, ready);
  }

  startClient(command: readonly string[]): void {
    const options = [
      '--server',
      this.ready.baseUrl,
      '--dir',
      join(this.folder, 'state'),
      '--interval',
      '1',
    ];
    const [program = '', ...args] = [...command, ...options, ...this.ca];
    // A group of its own, so that what the client has started ends with it.
    this.#client = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#client.stdout, this.#client.stderr]) {
      stream?.on('data', (text: Buffer) => {
        this.#output = (this.#output + text).slice(-20_000);
      });
    }
  }

  /** Returns the parsed response of the control API. */
  async control(path: string): Promise<unknown> {
    const headers = { Authorization: `Bearer ${this.ready.controlToken}` };
    const response = await fetch(this.ready.controlUrl + path, { headers });
    if (response.ok) return response.json();
    throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
  }

  async fleetbed(...args: readonly string[]): Promise<string> {
    const { baseUrl, controlUrl, adminToken, controlToken } = this.ready;
    const { code, stdout, stderr } = await runCommand(args, {
      FLEETBED_URL: baseUrl,
      FLEETBED_TOKEN: adminToken,
      FLEETBED_CONTROL_URL: controlUrl,
      FLEETBED_CONTROL_TOKEN: controlToken,
    });
    expect({ code, stderr }, stdout + this.#output).toEqual({ code: 0, stderr: '' });
    return stdout;
  }

  /** Deploys an artifact in the format that the field's tool writes: compressed by gzip. */
  async deploy(name: string): Promise<void> {
    const file = join(this.folder, `${name}.mender`);
    const spec = { name, deviceTypes: ['example-board'], payloadType: 'single-file' };
    const files = [{ name: 'app.bin', content: Buffer.alloc(2_000_000, name) }];
    writeFileSync(file, await writeArtifact({ ...spec, files, modifiedMs: 0 }));
    await this.fleetbed('deploy', file, ...this.ca);
  }

  async #entries(): Promise<readonly JournalEntry[]> {
    const page = await this.control('/journal?kind=exchange&limit=200&whole=true');
    return (page as { entries: readonly JournalEntry[] }).entries;
  }

  /** Waits for the reported statuses with their responses, such as `success 204`. */
  async untilReported(...reports: readonly string[]): Promise<void> {
    const readReported = async () =>
      (await this.#entries()).flatMap(({ report, status }) =>
        report ? [`${report} ${status}`] : [],
      );
    await expect
      .poll(readReported, { timeout: 30_000, interval: 200, message: this.#output })
      .toEqual(reports);
  }

  /** Waits until the newest poll names this artifact as the installed one. */
  async untilPolledWith(name: string): Promise<void> {
    const readPolls = async () => {
      const polls = (await this.#entries()).filter(
        ({ operation }) => operation === 'post-next-deployment-v2',
      );
      return /"artifact_name":"([^"]*)"/.exec(JSON.stringify(polls.at(-1)?.requestBody))?.[1];
    };
    await expect.poll(readPolls, { timeout: 30_000, interval: 200 }).toBe(name);
  }

  /** Asserts that no request of the client was valid, but not recommended. */
  async expectNoFinding(): Promise<void> {
    expect(await this.fleetbed('journal', '--lint')).toMatch(/^(?:No|0) finding/);
  }

  async close(): Promise<void> {
    if (this.#client?.pid !== undefined && this.#client.exitCode === null) {
      const close = new Promise((resolve) => this.#client?.once('close', resolve));
      process.kill(-this.#client.pid, 'SIGKILL');
      await close;
    }
    await this.running.end();
    rmSync(this.folder, { recursive: true });
  }
}
