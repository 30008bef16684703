import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../fixtures/base/clock.ts';
import { seededRandom } from '../../../fixtures/base/random.ts';
import { vendorNames } from '../../../fixtures/contract/vendor-names.ts';
import { listAssets } from '../../console/assets.ts';
import { openJournals } from '../../journal/tenant-journal.ts';
import { openLog } from '../../pipeline/log.ts';
import { openServices } from '../../pipeline/open-services.ts';
import type { Services } from '../../pipeline/services.ts';
import { StorageErrors } from '../../pipeline/storage-errors.ts';
import { completeSettings } from '../../settings.ts';
import { Outbox } from '../../tenants/outbox.ts';
import type { Tenants } from '../../tenants/tenants.ts';
import { openVariation } from '../../variation/variation.ts';
import { Watchdog } from '../../watchdog.ts';
import { TenantStates } from '../../world/tenant-states.ts';
import { Runs } from '../sources/runs.ts';
import type {
  ActivityEvent,
  ControlSource,
  DeploymentOverview,
  Overview,
} from '../sources/source.ts';
import { type RunningControl, startControl } from './control.ts';

const controlToken = 'a-secret-of-the-test';
const authorization = { Authorization: `Bearer ${controlToken}` };

/** A server without devices; each event that the test emits reaches every reader. */
class IdleServer implements ControlSource {
  shown: Overview = { devices: [], deviceCounts: {}, deployments: [] };
  readonly listeners = new Set<(event: ActivityEvent) => void>();

  async overview(): Promise<Overview> {
    return this.shown;
  }

  devices() {
    return this.shown.devices;
  }

  requestCounts() {
    return { fromSecond: 0, requests: [], errors: [] };
  }

  subscribe(listener: (event: ActivityEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  say(event: Partial<ActivityEvent>): void {
    const whole = { at: '2026-01-01T00:00:00.000Z', operation: 'get-next-deployment', ...event };
    for (const listener of [...this.listeners]) {
      listener({ method: 'GET', status: 204, requestId: 'r-1', ...whole });
    }
  }
}

let source: IdleServer;
let clock: ManualClock;
let control: RunningControl;
let services: Services;
let tenants: Tenants;
let states: TenantStates;

/** Starts the listener of the test, at any free port unless one is given. */
function start(port = 0): Promise<RunningControl> {
  const random = seededRandom('control');
  const mounts = { dialects: new Set<never>(), addresses: { api: 'http://127.0.0.1:8080' } };
  const explainFacts = {
    headerNames: vendorNames('X-SVC'),
    adminEmail: 'admin@example.com',
    mounts,
  };
  const folder = 'here';
  const log = openLog('silent');
  const watchdog = new Watchdog(log);
  const storageErrors = new StorageErrors({ log, clock, folder });
  const refused = () => {
    throw new Error('nothing passes to the management API here');
  };
  const internalApi = { pass: refused, upgrade: refused, opensSocket: () => false };
  const management = { internalApi, tokenIssuer: services.tokenIssuer, random, clock };
  const { incompleteTransfers, turns } = services;
  const otherServices = {
    outbox: new Outbox(random),
    log,
    watchdog,
    storageErrors,
    clock,
    explainFacts,
    incompleteTransfers,
    turns,
    variation: openVariation(undefined),
  };
  const runs = new Runs(undefined, clock);
  const own = { host: '127.0.0.1', port, controlToken, management, runs, clients: undefined };
  return startControl({ ...own, source, tenants, states, ...otherServices });
}

beforeEach(async () => {
  source = new IdleServer();
  clock = new ManualClock(0);
  const random = seededRandom('control');
  const settings = completeSettings({});
  const log = openLog('silent');
  const onTenantCreated = openJournals({ entriesMax: 10, bytesMax: 100_000 });
  services = await openServices({ settings, clock, random, log, onTenantCreated });
  tenants = services.tenants;
  states = new TenantStates(services, () => Promise.reject(new Error('no world is loaded here')));
  control = await start();
});

afterEach(async () => {
  await control.close();
  tenants.close();
});

async function ask(path: string, init?: RequestInit) {
  const response = await fetch(control.url + path, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** A response as the raw connection received it. */
async function bytesOf(path: string, accepted: string | undefined) {
  const headers = accepted === undefined ? {} : { 'Accept-Encoding': accepted };
  const clientRequest = get(control.url + path, { headers });
  const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
  return { headers: response.headers, bytes: Buffer.concat(await response.toArray()) };
}

/** Opens the stream of events; resolves once the subscription is active. */
async function openStream() {
  const stop = new AbortController();
  const response = await fetch(`${control.url}/events`, {
    headers: authorization,
    signal: stop.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const read = async (): Promise<string> => (await reader?.read())?.value ?? 'the end';
  expect(await read()).toBe(': connected\n\n');
  return { response, read, stop };
}

describe('authorization at the control listener', () => {
  it.each([
    ['no Authorization', {}],
    ['a wrong token', { Authorization: 'Bearer wrong' }],
    ['a token that only begins right', { Authorization: `Bearer ${controlToken}x` }],
    ['a part of the token', { Authorization: `Bearer ${controlToken.slice(0, -1)}` }],
    ['an empty token', { Authorization: 'Bearer ' }],
    ['another scheme', { Authorization: `Basic ${controlToken}` }],
  ])('returns 401 for %s and names what is missing', async (_, headers) => {
    for (const path of ['/overview', '/events', '/nothing-here']) {
      const response = await ask(path, { headers });
      expect(response.status).toBe(401);
      expect(JSON.parse(response.text)).toEqual({
        error: expect.stringContaining('control token'),
      });
    }
  });

  it('returns 401 for a token in the query', async () => {
    expect((await ask(`/overview?token=${controlToken}`)).status).toBe(401);
  });

  it('needs no token for the readiness check', async () => {
    const response = await ask('/ready');
    expect([response.status, response.text]).toEqual([200, '{"ready":true}']);
  });
});

describe('the control listener', () => {
  it('returns 404 with an error body for an unknown path', async () => {
    const response = await ask('/api/devices', { headers: authorization });
    expect(response.status).toBe(404);
    expect(JSON.parse(response.text)).toEqual({ error: expect.stringContaining('/api/devices') });
  });

  it.each(['/', '/ready', '/overview', '/devices', '/events'])(
    'returns 405 with Allow for a POST to %s',
    async (path) => {
      const response = await ask(path, { method: 'POST', headers: authorization });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('GET, HEAD');
      expect(JSON.parse(response.text)).toEqual({ error: expect.stringContaining('POST') });
    },
  );

  it('opens no event stream for HEAD', async () => {
    const response = await ask('/events', { method: 'HEAD', headers: authorization });
    expect(response.status).toBe(405);
    expect(source.listeners.size).toBe(0);
  });

  it('reports a busy port with its number', async () => {
    const port = Number(new URL(control.url).port);
    await expect(start(port)).rejects.toMatchObject({ code: 'EADDRINUSE', port });
  });
});

describe('the page of the control listener', () => {
  it('is served to anyone, with headers that forbid foreign and inline code', async () => {
    const assets = await listAssets();
    const types = assets.map(({ mediaType }) => mediaType.split(';')[0]);
    for (const type of ['text/html', 'text/css', 'text/javascript', 'image/svg+xml'])
      expect(types).toContain(type);
    for (const { path, mediaType, isImmutable } of assets) {
      const { status, headers, text } = await ask(path);
      expect([status, headers.get('content-type')]).toEqual([200, mediaType]);
      expect(text.length).toBeGreaterThan(50);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toMatch(isImmutable ? /immutable/ : /^no-store$/);
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });

  it('is served with gzip to clients that accept it, and plain to others', async () => {
    const { path } =
      (await listAssets()).find(({ mediaType }) => /javascript/.test(mediaType)) ?? {};
    expect(path).toBeDefined();
    const taken = await bytesOf(`${path}`, 'gzip, deflate');
    expect(taken.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    for (const refusing of ['identity', 'gzip;q=0', undefined]) {
      const plain = await bytesOf(`${path}`, refusing);
      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(plain.headers.vary).toBe('Accept-Encoding');
      expect(plain.bytes.equals(gunzipSync(taken.bytes))).toBe(true);
    }
  });

  it('contains no inline scripts or styles', async () => {
    const { text } = await ask('/');
    expect(text).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*src=)/);
  });

  it('gives no access to other files', async () => {
    for (const path of [
      '/main.tsx',
      '/tsconfig.json',
      '/assets/..%2findex.html',
      '/assets/',
      '/%2e%2e/assets.ts',
    ]) {
      expect((await ask(path, { headers: authorization })).status).toBe(404);
    }
  });
});

describe('the overview of the control listener', () => {
  it('equals the data of the server', async () => {
    source.shown = { devices: [], deviceCounts: { pending: 3 }, deployments: [] };
    const response = await ask('/overview', { headers: authorization });
    expect(response.status).toBe(200);
    const stalls = { count: 0, worstMs: 0, worstIn: '' };
    expect(JSON.parse(response.text)).toEqual({ ...source.shown, stalls });
  });

  it('contains at most 500 devices and 100 deployments', async () => {
    const device = { id: 'd', identity: '{}', status: 'pending', connected: false } as const;
    const deployment: DeploymentOverview = {
      id: 'x',
      name: 'n',
      artifactName: 'a',
      type: 'software',
      status: 'pending',
      createdAt: '2026-01-01T00:00:00.000Z',
      deviceCount: 1,
      statistics: {},
    };
    source.shown = {
      devices: Array.from({ length: 501 }, () => device),
      deviceCounts: {},
      deployments: Array.from({ length: 101 }, () => deployment),
    };
    const overview = JSON.parse((await ask('/overview', { headers: authorization })).text);
    expect([overview.devices.length, overview.deployments.length]).toEqual([500, 100]);
  });

  it('returns 500 without details when the server fails', async () => {
    source.overview = () => {
      throw new Error('a secret of the store');
    };
    const response = await ask('/overview', { headers: authorization });
    expect([response.status, response.text]).toEqual([500, '{"error":"internal error"}']);
  });
});

describe('the stream of events', () => {
  it('sends an event for each answered request', async () => {
    const stream = await openStream();
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
    source.say({ operation: 'connect', status: 101, deviceId: 'd-1' });
    const data = /^event: activity\ndata: (.*)\n\n$/.exec(await stream.read())?.[1] ?? '';
    expect(JSON.parse(data)).toEqual({
      at: '2026-01-01T00:00:00.000Z',
      operation: 'connect',
      method: 'GET',
      status: 101,
      deviceId: 'd-1',
      requestId: 'r-1',
    });
    stream.stop.abort();
  });

  it('sends text with line breaks as one event', async () => {
    const stream = await openStream();
    source.say({ requestId: 'a\n\nevent: forged\ndata: {}' });
    expect(await stream.read()).toMatch(/^event: activity\ndata: [^\n]*\n\n$/);
    stream.stop.abort();
  });

  it('sends a comment after a long silence', async () => {
    const stream = await openStream();
    clock.advance(15_000);
    expect(await stream.read()).toBe(': still here\n\n');
    stream.stop.abort();
  });

  it('disconnects only a reader that does not keep up', async () => {
    const stream = await openStream();
    const { port } = new URL(control.url);
    const slow = connect(Number(port), '127.0.0.1');
    slow.write(
      `GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization.Authorization}\r\n\r\n`,
    );
    await new Promise((resolve) => slow.once('readable', resolve));
    slow.pause();
    expect(source.listeners.size).toBe(2);
    const drained = (async () => {
      for (let text = await stream.read(); text !== 'the end'; text = await stream.read()) {
        if (text.includes('last words')) return true;
      }
      return false;
    })();
    // This exceeds any kernel buffer; the fast reader gets its turn between two chunks.
    for (let chunk = 0; source.listeners.size > 1 && chunk < 2000; chunk++) {
      source.say({ requestId: 'x'.repeat(100_000) });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(source.listeners.size).toBe(1);
    source.say({ requestId: 'last words' });
    expect(await drained).toBe(true);
    slow.destroy();
    stream.stop.abort();
  });

  it('releases a reader that disconnects', async () => {
    const closed = new Promise<void>((resolve) => {
      const ask = get(`${control.url}/events`, { headers: authorization }, (response) => {
        response.once('data', () => ask.destroy());
        response.once('close', resolve);
      });
      ask.on('error', () => resolve());
    });
    await closed;
    await expect.poll(() => source.listeners.size).toBe(0);
  });

  it('returns 503 to the 33rd reader', async () => {
    const streams = await Promise.all(Array.from({ length: 32 }, () => openStream()));
    const response = await ask('/events', { headers: authorization });
    expect(response.status).toBe(503);
    for (const { stop } of streams) stop.abort();
  });

  it('ends when the listener closes, even in mid-stream', async () => {
    const stream = await openStream();
    await control.close();
    source.say({});
    expect(await stream.read()).toBe('the end');
    expect(source.listeners.size).toBe(0);
  });
});
