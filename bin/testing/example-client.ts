/** Runs an example client of `fixtures/clients` against the built server, as a newcomer would. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { writeArtifact } from '../../fixtures/formats/mender-artifact-writer.ts';
import type { ServerReady } from '../server-access/ready.ts';
import { type RunningCommand, runCommand, startServe } from './built-command.ts';

const source = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/clients/${name}`, import.meta.url));

/** The command of each example, without its options. */
export const examples: readonly (readonly [name: string, command: readonly string[]])[] = [
  ['Python', ['python3', source('client.py')]],
  ['Bash', ['bash', source('client.sh')]],
];

interface JournalEntry {
  readonly sequence: number;
  readonly operation?: string;
  readonly status: number;
  /** The reported status of the deployment. */
  readonly report?: string;
  readonly requestHeaders: readonly (readonly [name: string, value: string])[];
  readonly requestBody?: unknown;
}

/** A server, and one example client that runs against it. */
export class Trial {
  readonly folder = mkdtempSync(join(tmpdir(), 'fleetbed-example-'));
  readonly running: RunningCommand;
  readonly ready: ServerReady;
  readonly command: readonly string[];
  #client: ChildProcess | undefined;
  #output = '';

  private constructor(running: RunningCommand, ready: ServerReady, command: readonly string[]) {
    this.running = running;
    this.ready = ready;
    this.command = command;
  }

  static async start(command: readonly string[], serverOptions: readonly string[] = []) {
    const { running, ready } = await startServe(serverOptions);
    return new Trial(running, ready, command);
  }

  startClient(): void {
    const { baseUrl, tls } = this.ready;
    const ca = tls?.caPem === undefined ? [] : ['--ca', join(this.folder, 'ca.pem')];
    if (tls?.caPem !== undefined) writeFileSync(join(this.folder, 'ca.pem'), tls.caPem);
    const options = ['--server', baseUrl, '--dir', join(this.folder, 'state'), '--interval', '1'];
    const [program = '', ...words] = [...this.command, ...options, ...ca];
    // A group of its own, so that what the client has started ends with it.
    this.#client = spawn(program, words, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#client.stdout, this.#client.stderr]) {
      stream?.on('data', (text: Buffer) => {
        this.#output = (this.#output + text).slice(-20_000);
      });
    }
  }

  async killClient(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    if (client?.pid === undefined || client.exitCode !== null) return;
    const closed = new Promise((resolve) => client.once('close', resolve));
    process.kill(-client.pid, 'SIGKILL');
    await closed;
  }

  async control(path: string, body?: object): Promise<Response> {
    const headers = { Authorization: `Bearer ${this.ready.controlToken}` };
    const post = { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(this.ready.controlUrl + path, {
      ...(body && post),
      headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) },
    });
    if (!answer.ok)
      throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
    return answer;
  }

  async fleetbed(...words: readonly string[]): Promise<string> {
    const { baseUrl, controlUrl, adminToken, controlToken } = this.ready;
    const { code, stdout, stderr } = await runCommand(words, {
      FLEETBED_URL: baseUrl,
      FLEETBED_TOKEN: adminToken,
      FLEETBED_CONTROL_URL: controlUrl,
      FLEETBED_CONTROL_TOKEN: controlToken,
    });
    expect({ code, stderr }, stdout + this.#output).toEqual({ code: 0, stderr: '' });
    return stdout;
  }

  async deploy(name: string): Promise<void> {
    const file = join(this.folder, `${name}.mender`);
    const content = Buffer.alloc(2_000_000, name);
    const spec = { name, deviceTypes: ['example-board'], payloadType: 'single-file' };
    const files = [{ name: 'app.bin', content }];
    const compression = 'none';
    writeFileSync(file, await writeArtifact({ ...spec, files, compression, modifiedMs: 0 }));
    await this.fleetbed('deploy', file);
  }

  async fault(match: object, act: object, times: number | 'once' = 'once'): Promise<void> {
    await this.control('/faults', { rules: [{ match, act, times }] });
  }

  async entries(): Promise<readonly JournalEntry[]> {
    const answer = await this.control('/journal?kind=exchange&limit=200&whole=true');
    return ((await answer.json()) as { entries: readonly JournalEntry[] }).entries;
  }

  /** Returns the reported statuses with their answers, such as `success 204`. */
  async reports(): Promise<readonly string[]> {
    const entries = await this.entries();
    return entries.flatMap(({ report, status }) => (report ? [`${report} ${status}`] : []));
  }

  /** Returns the name of the installed artifact in the newest poll. */
  async polledName(): Promise<string | undefined> {
    const entries = await this.entries();
    const polls = entries.filter(({ operation }) => operation === 'post-next-deployment-v2');
    return /"artifact_name":"([^"]*)"/.exec(JSON.stringify(polls.at(-1)?.requestBody))?.[1];
  }

  /** Returns the `Range` headers of the downloads; empty texts where there was none. */
  async ranges(): Promise<readonly string[]> {
    const entries = await this.entries();
    return entries
      .filter(({ operation }) => operation === 'download-artifact')
      .map(({ requestHeaders }) => requestHeaders.find(([name]) => name === 'Range')?.[1] ?? '');
  }

  /** Returns true once the client has stored a part of the artifact. */
  hasPart(): boolean {
    return ['artifact', 'part'].some((name) => {
      const found = statSync(join(this.folder, 'state', name), { throwIfNoEntry: false });
      return found !== undefined && found.size > 0;
    });
  }

  async untilReported(...reports: readonly string[]): Promise<void> {
    await expect
      .poll(() => this.reports(), { timeout: 30_000, interval: 200, message: this.#output })
      .toEqual(reports);
  }

  async untilPolledWith(name: string): Promise<void> {
    await expect.poll(() => this.polledName(), { timeout: 30_000, interval: 200 }).toBe(name);
  }

  /** Asserts that no request of the client was legal but unwise. */
  async expectNoFinding(): Promise<void> {
    expect(await this.fleetbed('journal', '--lint')).toMatch(/^(?:No|0) finding/);
  }

  async close(): Promise<void> {
    await this.killClient();
    await this.running.end();
    rmSync(this.folder, { recursive: true });
  }
}
