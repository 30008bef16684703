/** Runs a server with a data folder in a separate process, and makes the calls that load it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { pathOf } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { vendorNames } from '../../../fixtures/contract/vendor-names.ts';
import { writeArtifact } from '../../../fixtures/formats/mender-artifact-writer.ts';
import type { ServerReady } from '../../server-access/ready.ts';

/** The path from this file to the built command, which differs between sources and built files. */
const root = import.meta.url.endsWith('.ts') ? '../../../' : '../../../../';
const command = fileURLToPath(new URL(`${root}dist/bin/fleetbed.js`, import.meta.url));
const rows = { ...operations, ...managementOperations };

/** The exit code and the output of a command that has ended. */
export interface EndedCommand {
  readonly code: number | null;
  readonly stderr: string;
  readonly stdout: string;
}

/** A response, read to its end. */
export interface FolderResponse {
  readonly status: number;
  readonly location: string;
  readonly text: string;
}

/** The token, the parameters and the body of a call; `form` is sent only without `json`. */
export interface FolderCall {
  readonly token?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly form?: FormData;
}

/** Runs `fleetbed` to its end. */
export async function runFleetbed(args: readonly string[]): Promise<EndedCommand> {
  const child = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = [readText(child.stdout), readText(child.stderr)];
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout: await stdout, stderr: await stderr };
}

async function readText(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const part of stream) text += String(part);
  return text;
}

/** A server that is starting, ready or ended. */
export class ServedFolder {
  /**
   * Resolves with the ready message of the server; with undefined when the process ended before.
   */
  readonly ready: Promise<ServerReady | undefined>;
  /** Resolves with exit code and output when the process ends. */
  readonly ended: Promise<EndedCommand>;
  readonly #child: ChildProcess;

  constructor(folder: string) {
    const free = ['--port', '0', '--control-port', '0', '--log-level', 'error', '--auto-accept'];
    const args = [command, 'serve', '--json', '--data', folder, ...free];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    const stderr = readText(child.stderr);
    this.ready = new Promise((resolve) => {
      createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line)));
      child.once('close', () => resolve(undefined));
    });
    this.ended = new Promise((resolve) => {
      child.once('close', async (code) => resolve({ code, stdout: '', stderr: await stderr }));
    });
  }

  /** Sends a signal and waits for the exit. */
  end(signal: NodeJS.Signals = 'SIGTERM'): Promise<EndedCommand> {
    this.#child.kill(signal);
    return this.ended;
  }
}

/** Calls an operation. Rejects when the server is not running. */
export async function call(
  { baseUrl, adminToken }: ServerReady,
  id: keyof typeof rows,
  { token = adminToken, parameters = {}, query = {}, json, form }: FolderCall = {},
): Promise<FolderResponse> {
  const { method, path } = rows[id];
  const search = new URLSearchParams(query).toString();
  const url = `${baseUrl}${pathOf({ path }, parameters)}${search === '' ? '' : `?${search}`}`;
  const headers = new Headers({ Authorization: `Bearer ${token}` });
  if (json !== undefined) headers.set('Content-Type', 'application/json');
  const body = json === undefined ? (form ?? null) : JSON.stringify(json);
  return responseOf(await fetch(url, { method, headers, body }));
}

/** Calls the control listener. Rejects when the server is not running. */
export async function callControl(
  { controlUrl, controlToken }: ServerReady,
  { method, path, json }: { method: string; path: string; json?: unknown },
): Promise<FolderResponse> {
  const headers = { Authorization: `Bearer ${controlToken}`, 'Content-Type': 'application/json' };
  const body = json === undefined ? null : JSON.stringify(json);
  return responseOf(await fetch(controlUrl + path, { method, headers, body }));
}

async function responseOf(response: Response): Promise<FolderResponse> {
  const text = await response.text();
  const location = response.headers.get('location')?.split('/').at(-1) ?? '';
  return { status: response.status, location, text };
}

/** Authenticates a new device. @throws Error when the server does not accept it automatically */
export async function authenticate(
  server: ServerReady,
  serial: string,
): Promise<{ readonly id: string; readonly token: string }> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pubkey = publicKey.export({ type: 'spki', format: 'pem' });
  const body = JSON.stringify({ id_data: JSON.stringify({ serial }), pubkey });
  const headers = {
    'Content-Type': 'application/json',
    [vendorNames(server.headerPrefix).signature]: sign(
      null,
      Buffer.from(body),
      privateKey,
    ).toString('base64'),
  };
  const { method, path } = operations['post-auth-request'];
  const send = async () =>
    responseOf(await fetch(server.baseUrl + path, { method, headers, body }));
  await send();
  const { status, text } = await send();
  if (status !== 200) throw new Error(`the device ${serial} was refused: ${status} ${text}`);
  const claims = JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString());
  return { id: String(claims.sub), token: text };
}

/** Uploads a small artifact with this name. */
export async function upload(server: ServerReady, name: string): Promise<FolderResponse> {
  const content = Buffer.from(name.repeat(500));
  const file = await writeArtifact({
    name,
    deviceTypes: ['board'],
    payloadType: 'single-file',
    files: [{ name: 'file', content }],
    modifiedMs: 0,
    compression: 'none',
  });
  const form = new FormData();
  form.append('artifact', new Blob([new Uint8Array(file)]), 'a.mender');
  return call(server, 'upload-artifact', { form });
}

/** Downloads an artifact and returns the status. */
export async function downloadStatus(server: ServerReady, id: string): Promise<number> {
  const link = await call(server, 'get-artifact-download', { parameters: { id } });
  if (link.status !== 200) return link.status;
  const response = await fetch((JSON.parse(link.text) as { uri: string }).uri);
  await response.arrayBuffer();
  return response.status;
}
