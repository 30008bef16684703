/**
 * For every reader of foreign structure the request that keeps it busy longest: as large as its limit
 * of bytes allows, and as finely divided as its format can.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { systemClock } from '../../fixtures/clock.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { type Operation, pathOf } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { looseTar } from '../../fixtures/testing/loose-artifact.ts';
import type { FuzzTarget } from './fuzz-target.ts';

const MEBIBYTE = 2 ** 20;
const ANSWERED_MAX_MS = 60_000;

/** One reader and its worst request. */
export interface WorstRequest {
  /** What reads what. */
  readonly name: string;
  /** Makes what is sent; the function returned sends it once, until the server has dealt with it. */
  prepare(target: FuzzTarget): Promise<() => Promise<unknown>>;
}

/** A request without its head. */
interface Sent {
  readonly headers?: readonly string[];
  readonly body?: Buffer | string;
}

type Listener = 'device' | 'user' | 'nobody' | 'control';

function bytesOf(target: FuzzTarget, as: Listener, line: string, { headers = [], body = '' }: Sent) {
  const { deviceToken, userToken } = target.insider;
  const tokens = { device: deviceToken, user: userToken, control: target.ready.controlToken };
  const lines = [
    `${line} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...(as === 'nobody' ? [] : [`Authorization: Bearer ${tokens[as]}`]),
    ...headers,
    ...(body.length > 0 ? [`Content-Length: ${Buffer.byteLength(body)}`] : []),
    'Connection: close',
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body)]);
}

/** Writes all bytes and reads until the server closes the connection; returns the first line. */
function flood(url: string, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
    let first = '';
    const timer = systemClock.after(ANSWERED_MAX_MS, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      if (first === '') first = chunk.toString('latin1').split('\r\n').filter((_l,i,a)=> i===0||i===a.length-1).join(' ').slice(0,200);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      timer.cancel();
      resolve(first);
    });
    socket.write(bytes);
  });
}

function request(
  name: string,
  as: Listener,
  { line, times = 1, sent }: { line: string; times?: number; sent: () => Sent | Promise<Sent> },
): WorstRequest {
  return {
    name,
    prepare: async (target) => {
      const bytes = bytesOf(target, as, line, await sent());
      const url = as === 'control' ? target.ready.controlUrl : target.ready.baseUrl;
      return () => Promise.all(Array.from({ length: times }, () => flood(url, bytes)));
    },
  };
}

const lineOf = (row: Operation, id = 'x') =>
  `${row.method} ${pathOf(row, Object.fromEntries([...row.path.matchAll(/\{(\w+)\}/g)].map(([, n]) => [n ?? '', id])))}`;

const json = (body: string): Sent => ({ headers: ['Content-Type: application/json'], body });

/** Repeats numbered pieces up to this size. */
function filled(bytes: number, piece: (index: number) => string, between = ','): string {
  const pieces: string[] = [];
  for (let index = 0, length = 0; ; index += 1) {
    const next = piece(index);
    length += next.length + between.length;
    if (length > bytes) return pieces.join(between);
    pieces.push(next);
  }
}

const key = (index: number): string => index.toString(36);
const members = (bytes: number): string => `{${filled(bytes - 2, (at) => `"k${key(at)}":1`)}}`;
const numbers = (bytes: number): string => `[${filled(bytes - 2, () => '1')}]`;
const lists = (bytes: number): string => `[${filled(bytes - 2, () => '[]')}]`;
const sparse = (bytes: number): string =>
  `{${filled(bytes - 2, (at) => `"${(at * 7919 + 1) % 4_000_000_000}":1`)}}`;

const boundary = 'x';
const multipart = (body: string): Sent => ({
  headers: [`Content-Type: multipart/form-data; boundary=${boundary}`],
  body,
});
const part = (head: string, body = ''): string => `--${boundary}\r\n${head}\r\n\r\n${body}\r\n`;
const field = (name: string) => part(`Content-Disposition: form-data; name="${name}"`);
const fileHead = 'Content-Disposition: form-data; name="artifact"; filename="a"';

const { websocketMessageMaxBytes, bodyMaxBytes } = limits;
/** Less than the body limit. */
const bodyBytes = bodyMaxBytes - 1000;
const listMax = 2048;

/** Nested lists of small values: 8 MiB of msgpack. */
function smallValues(bytes: number): Buffer {
  const list = (length: number) => Buffer.from([0xdc, length >> 8, length & 255]);
  const inner = Buffer.concat([list(listMax), Buffer.alloc(listMax, 1)]);
  const count = Math.max(1, Math.min(listMax, Math.floor(bytes / inner.length) - 1));
  const lots = [list(count), ...Array.from({ length: count }, () => inner)];
  const text = (t: string) => Buffer.concat([Buffer.from([0xa0 | t.length]), Buffer.from(t)]);
  const head = Buffer.concat([Buffer.from([0x82]), text('hdr'), Buffer.from([0x82]), text('proto'), Buffer.from([1]), text('props'), Buffer.from([0x81]), text('a')]);
  return Buffer.concat([head, ...lots, text('body'), Buffer.from([0xc4, 0])]);
}

/** A message whose props have as many entries as allowed. */
function manyProps(count: number): Buffer {
  const text = (t: string) => Buffer.concat([Buffer.from([0xa0 | t.length]), Buffer.from(t)]);
  const pairs = Array.from({ length: count }, (_, at) => Buffer.concat([text(key(at)), Buffer.from([1])]));
  return Buffer.concat([
    Buffer.from([0x81]), text('hdr'), Buffer.from([0x82]), text('proto'), Buffer.from([1]), text('props'),
    Buffer.from([0xde, count >> 8, count & 255]), ...pairs,
  ]);
}

function frames(
  name: string,
  from: 'device' | 'user',
  { message, times = 1 }: { message: () => Buffer; times?: number },
): WorstRequest {
  return {
    name,
    prepare: async ({ ready, insider }) => {
      const ws = ready.baseUrl.replace('http', 'ws');
      const path = { device: pathOf(operations.connect), user: pathOf(managementOperations['connect-device'], { id: insider.ids[0] ?? '' }) };
      const open = async (which: 'device' | 'user') => {
        const token = which === 'device' ? insider.deviceToken : insider.userToken;
        const socket = new WebSocket(ws + path[which], { headers: { Authorization: `Bearer ${token}` } });
        socket.on('error', () => undefined);
        await once(socket, 'open');
        return socket;
      };
      const bytes = message();
      return async () => {
        const device = await open('device');
        const socket = from === 'device' ? device : await open('user');
        const closed = new Promise<string>((resolve) =>
          socket.once('close', (code: number, reason: Buffer) => resolve(`${code} ${reason}`)),
        );
        const answered = new Promise<string>((resolve) => socket.once('pong', () => resolve('pong')));
        for (let time = 0; time < times; time += 1) socket.send(bytes);
        socket.ping();
        const how = await Promise.race([closed, answered]);
        socket.terminate();
        device.terminate();
        return how;
      };
    },
  };
}

const authHead = (signature = 'x') => ['Content-Type: application/json', `X-MEN-Signature: ${signature}`];

const patchLine = lineOf(operations['patch-attributes']);
const searchLine = lineOf(managementOperations['search-inventory']);
const uploadLine = lineOf(managementOperations['upload-artifact']);

const search = (value: unknown): Sent => json(JSON.stringify(value));

async function paxArtifact(kind: 'many' | 'records' | 'global'): Promise<Buffer> {
  const record = (at: number) => { const rest = ` k${key(at)}=\n`; let n = rest.length; for (;;) { const l = String(n).length + rest.length; if (l === n) return `${n}${rest}`; n = l; } };
  const long = (type: string, content: string) => longHeader(type, Buffer.from(content));
  if (kind === 'records') return longHeader('x', Buffer.from(filled(4 * MEBIBYTE - 100, record, '')));
  if (kind === 'global')
    return Buffer.concat([long('g', filled(4 * MEBIBYTE - 100, record, '')), ...Array.from({ length: 40 }, () => long('x', record(1)))]);
  return looseTar(Array.from({ length: 20_000 }, (_, at) => ({ name: `a${at}`, content: '' })));
}

function longHeader(type: string, content: Buffer): Buffer {
  const block = Buffer.alloc(512);
  block.write('pax', 0);
  block.write('0000600\0', 100); block.write('0000000\0', 108); block.write('0000000\0', 116);
  block.write(content.length.toString(8).padStart(11, '0') + '\0', 124);
  block.write('00000000000\0', 136);
  block.write(type, 156);
  block.write('ustar\0' + '00', 257);
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([block, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

const upload = async (bytes: Promise<Buffer>): Promise<Sent> => {
  const body = Buffer.concat([
    Buffer.from(`--${boundary}\r\n${fileHead}\r\n\r\n`), await bytes, Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return { headers: [`Content-Type: multipart/form-data; boundary=${boundary}`], body };
};

/** Every reader. */
export const worstRequests: readonly WorstRequest[] = [
  frames('websocket of a device, one message', 'device', { message: () => smallValues(websocketMessageMaxBytes) }),
  frames('websocket of a user, one message', 'user', { message: () => smallValues(websocketMessageMaxBytes) }),
  frames('websocket of a device, 1000 messages of 4 KiB', 'device', { message: () => smallValues(4096), times: 1000 }),
  frames('websocket of a device, 1000 messages with 1000 props', 'device', { message: () => manyProps(1000), times: 1000 }),
  frames('websocket of a device, 100000 tiny messages', 'device', { message: () => manyProps(0), times: 100_000 }),
  request('JSON, members', 'device', { line: patchLine, sent: () => json(members(bodyBytes)) }),
  request('JSON, numbers', 'device', { line: patchLine, sent: () => json(numbers(bodyBytes)) }),
  request('JSON, lists', 'device', { line: patchLine, sent: () => json(lists(bodyBytes)) }),
  request('JSON, nested', 'device', { line: patchLine, sent: () => json('['.repeat(bodyBytes / 2) + ']'.repeat(bodyBytes / 2)) }),
  request('JSON, sparse', 'device', { line: patchLine, sent: () => json(sparse(bodyBytes)) }),
  request('JSON, 48 of a device', 'device', { line: patchLine, times: 48, sent: () => json(members(bodyBytes)) }),
  request('JSON, 48 provides', 'device', { line: lineOf(operations['post-next-deployment-v2']), times: 48, sent: () => json(`{"device_provides":${members(bodyBytes - 100)}}`) }),
  request('JSON, log messages', 'device', { line: lineOf(operations['put-deployment-log']), sent: () => json(`{"messages":[${filled(bodyBytes - 100, () => '{"timestamp":"2027-01-01T00:00:00Z","level":"a","message":"a"}')}]}`) }),
  request('auth request, one', 'nobody', { line: lineOf(operations['post-auth-request']), sent: () => ({ headers: authHead(), body: `{"id_data":"{}","pubkey":"x",${members(bodyBytes - 100).slice(1)}` }) }),
  request('auth requests, 48', 'nobody', { line: lineOf(operations['post-auth-request']), times: 48, sent: () => ({ headers: authHead(), body: `{"id_data":"{}","pubkey":"x",${filled(bodyBytes - 100, (at) => `"k${key(at)}":1`)}}` }) }),
  request('auth requests, 48, long id_data', 'nobody', { line: lineOf(operations['post-auth-request']), times: 48, sent: () => ({ headers: authHead(), body: JSON.stringify({ id_data: members(bodyBytes * 0.7), pubkey: 'x' }) }) }),
  request('multipart, 20,000 parts', 'user', { line: uploadLine, sent: () => multipart(filled(MEBIBYTE*1.2, () => field('a'), '') + `--${boundary}--\r\n`) }),
  request('multipart, 20 MiB of parts', 'user', { line: uploadLine, sent: () => multipart(filled(20 * MEBIBYTE, () => field('a'), '') + `--${boundary}--\r\n`) }),
  request('multipart, parts after the file', 'user', { line: uploadLine, sent: () => multipart(part(fileHead) + filled(10 * MEBIBYTE, () => field('a'), '') + `--${boundary}--\r\n`) }),
  request('multipart, empty parts', 'user', { line: uploadLine, sent: () => multipart(filled(10 * MEBIBYTE, () => `--${boundary}\r\n\r\n\r\n`, '') + `--${boundary}--\r\n`) }),
  request('multipart, head of a part', 'user', { line: uploadLine, sent: () => multipart(part(filled(10 * MEBIBYTE, () => 'a:b', '\r\n'))) }),
  request('multipart, long parameter', 'user', { line: uploadLine, sent: () => multipart(filled(2 * MEBIBYTE, () => part(`Content-Disposition: form-data; ${filled(70_000, (at) => `a${at}="b"`, '; ')}`), '')) }),
  request('YAML, words', 'control', { line: 'POST /faults', sent: () => ({ headers: ['Content-Type: application/yaml'], body: filled(500 * 1024, () => 'a: b', '\n') }) }),
  request('YAML, distinct', 'control', { line: 'POST /faults', sent: () => ({ body: filled(500 * 1024, (at) => `k${at}: b`, '\n') }) }),
  request('YAML, flow', 'control', { line: 'POST /world', sent: () => ({ body: `[${filled(500 * 1024, () => 'a')}]` }) }),
  request('YAML, flow under the limit', 'control', { line: 'POST /world', sent: () => ({ body: `[${Array.from({ length: 9900 }, () => 'a')}]` }) }),
  request('YAML, map under the limit', 'control', { line: 'POST /world', sent: () => ({ body: Array.from({ length: 3900 }, (_, at) => `k${at}: b\n`).join('') }) }),
  request('YAML, list under the limit', 'control', { line: 'POST /world', sent: () => ({ body: Array.from({ length: 4900 }, () => `- b\n`).join('') }) }),
  request('YAML, devices under the limit', 'control', { line: 'POST /world', sent: () => ({ body: `devices:\n${Array.from({ length: 1900 }, () => ` - {a: b}\n`).join('')}` }) }),
  request('YAML, rules under the limit', 'control', { line: 'POST /faults', sent: () => ({ body: `[${Array.from({ length: 2400 }, () => `{a: b}`).join(',')}]` }) }),
  request('control JSON', 'control', { line: 'POST /assert', sent: () => json(members(16_000)) }),
  request('artifact, members', 'user', { line: uploadLine, sent: () => upload(paxArtifact('many')) }),
  request('artifact, pax records', 'user', { line: uploadLine, sent: () => upload(paxArtifact('records')) }),
  request('artifact, pax global', 'user', { line: uploadLine, sent: () => upload(paxArtifact('global')) }),
  request('query, many parameters', 'user', { line: `GET ${pathOf(managementOperations['list-inventory'])}?${filled(14_000, (at) => `a${at % 100}`, '&')}`, sent: () => ({}) }),
  request('query, one parameter many times', 'user', { line: `GET ${pathOf(managementOperations['list-inventory'])}?${filled(14_000, () => `a`, '&')}`, sent: () => ({}) }),
  request('query, sort', 'user', { line: `GET ${pathOf(managementOperations['list-inventory'])}?sort=${filled(14_000, () => `a`, ',')}`, sent: () => ({}) }),
  request('headers', 'user', { line: 'GET /x', sent: () => ({ headers: filled(15_000, (at) => `a${at % 7}: b`, '\n').split('\n') }) }),
  request('headers, same', 'user', { line: 'GET /x', sent: () => ({ headers: filled(15_000, () => `cookie: b`, '\n').split('\n') }) }),
  request('filters, $regex', 'user', { line: searchLine, sent: () => search({ filters: Array.from({ length: 100 }, () => ({ scope: 'inventory', attribute: 'blob', type: '$regex', value: '(a?){400}b$' })) }) }),
  request('filters, $regex largest', 'user', { line: searchLine, sent: () => search({ filters: Array.from({ length: 1 }, () => ({ scope: 'inventory', attribute: 'blob', type: '$regex', value: '(a?a?){150}b$' })) }) }),
  request('filters, $in', 'user', { line: searchLine, sent: () => search({ filters: Array.from({ length: 100 }, () => ({ scope: 'identity', attribute: 'serial', type: '$in', value: Array.from({ length: 1000 }, (_, at) => `v${at}`) })) }) }),
  request('filters, device ids', 'user', { line: searchLine, sent: () => json(`{"device_ids":[${filled(bodyBytes - 100, () => '""')}]}`) }),
  {
    name: 'pipelined requests',
    prepare: async ({ ready }) => {
      const bytes = Buffer.from('GET / HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(40_000) + 'GET / HTTP/1.1\r\nHost:a\r\nConnection: close\r\n\r\n');
      return () => flood(ready.baseUrl, bytes);
    },
  },
];
