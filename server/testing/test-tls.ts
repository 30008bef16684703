/** A real server behind TLS, and a client that is as strict as a test needs. */
import { execFile } from 'node:child_process';
import { type RequestOptions, request } from 'node:https';
import { type ConnectionOptions, connect } from 'node:tls';
import { promisify } from 'node:util';
import type { ServerOptions } from '../server.ts';
import type { TlsSettings } from '../tls-settings.ts';
import {
  startTestServer,
  type TestCall,
  type TestResponse,
  type TestServer,
} from './test-server.ts';

/** The TLS options of a client: authorities, certificate, and tolerance. */
export type ClientTls = Pick<
  RequestOptions,
  | 'ca'
  | 'cert'
  | 'ciphers'
  | 'key'
  | 'maxVersion'
  | 'minVersion'
  | 'rejectUnauthorized'
  | 'servername'
>;

const OPENSSL_MAX_MS = 10_000;

/** Starts a server behind TLS whose calls trust its test CA, and present `client`. */
export function startTlsServer(
  tls: TlsSettings = {},
  { client = {}, ...options }: ServerOptions & { readonly client?: ClientTls } = {},
): Promise<TestServer> {
  return startTestServer({ ...options, tls }, (server) => (url, method, call) => {
    const ca = server.tls?.caPem;
    return sendSecurely(url, { method, call, tls: { ...(ca !== undefined && { ca }), ...client } });
  });
}

/** Returns the test CA of a server. @throws Error when it has none */
export function caOf({ tls }: Pick<TestServer, 'tls'>): string {
  if (tls?.caPem === undefined) throw new Error('the server has no test CA');
  return tls.caPem;
}

/** Returns the reply over a new connection; rejects with the error of the connection. */
export async function sendSecurely(
  url: string,
  {
    method = 'GET',
    call = {},
    tls = {},
  }: { method?: string; call?: TestCall; tls?: ClientTls } = {},
): Promise<TestResponse> {
  const headers = new Headers(call.headers);
  if (call.token !== undefined) headers.set('Authorization', `Bearer ${call.token}`);
  if (call.json !== undefined) headers.set('Content-Type', 'application/json');
  const content = call.json === undefined ? (call.body ?? null) : JSON.stringify(call.json);
  // This encodes a form as fetch does in tests over plain HTTP.
  const written = new Response(content);
  const type = written.headers.get('content-type');
  if (type !== null && !headers.has('content-type')) headers.set('Content-Type', type);
  const body = Buffer.from(await written.arrayBuffer());
  return new Promise((resolve, reject) => {
    const options = { method, headers: Object.fromEntries(headers), agent: false, ...tls };
    const clientRequest = request(url, options, async (response) => {
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of response) chunks.push(chunk as Buffer);
      } catch (error) {
        reject(error);
      }
      const text = Buffer.concat(chunks).toString();
      resolve({
        status: response.statusCode ?? 0,
        headers: new Headers(response.headers as Record<string, string>),
        text,
        json: <Body>() => JSON.parse(text) as Body,
      });
    });
    clientRequest.on('error', reject);
    clientRequest.end(content === null ? undefined : body);
  });
}

/** Returns the error code with which a client gives up, or `answered` when it does not. */
export async function refusalOf(url: string, tls: ClientTls): Promise<string> {
  return sendSecurely(url, { tls }).then(
    () => 'answered',
    (error: Error & { code?: string }) => error.code ?? error.message,
  );
}

/** Returns what a handshake shows to a client that refuses nothing. */
export function handshakeWith(
  url: string,
  options: ConnectionOptions,
): Promise<{ readonly error: string | undefined; readonly protocol: string | null }> {
  const { hostname: host, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ...options });
    socket.on('error', reject);
    socket.on('secureConnect', () => {
      // Node's types declare an Error, but the value is the code as a string.
      const error: unknown = socket.authorizationError ?? undefined;
      resolve({
        error: error === undefined ? undefined : String(error),
        protocol: socket.getProtocol(),
      });
      socket.destroy();
    });
  });
}

/** Returns the output of the openssl program; rejects when it fails. */
export async function openssl(...args: readonly string[]): Promise<string> {
  const running = promisify(execFile)('openssl', args, { timeout: OPENSSL_MAX_MS });
  running.child.stdin?.end();
  const { stdout, stderr } = await running;
  return stdout + stderr;
}
