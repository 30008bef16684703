import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock, systemClock } from '../../fixtures/base/clock.ts';
import type { ConformanceResult, VerdictName } from '../result/result.ts';
import { responseSummary } from '../target/expectations.ts';
import { Target } from '../target/target.ts';
import { runAgainst } from '../testing/run-against.ts';
import { serve } from '../testing/stub-server.ts';

function idsOf({ verdicts }: ConformanceResult, name: VerdictName): readonly string[] {
  return verdicts.filter(({ verdict }) => verdict === name).map(({ id }) => id);
}

function reasonsOf({ verdicts }: ConformanceResult): readonly string[] {
  const skips = verdicts.filter(({ verdict }) => verdict !== 'skip');
  return [...new Set(skips.flatMap(({ reason }) => reason?.code ?? []))].sort();
}

/** OPTIONS may succeed without naming methods. */
const optionsCases = ['service/options-is-success', 'service/preflight-allows-the-method'];
const user = { email: 'user@example.com', password: 'correct horse battery' };

describe('a target that answers everything with 200 and an empty body', () => {
  const agreeable: RequestListener = (_, response) => response.end();

  it('fails the run, and passes only the cases of OPTIONS', async () => {
    const result = await runAgainst(await serve(agreeable));
    expect(result.outcome).toBe('fail');
    expect(result.totals.error).toBe(0);
    expect(idsOf(result, 'pass')).toEqual(optionsCases);
    expect(idsOf(result, 'fail')).toContain('authentication/first-contact-is-401');
  });

  it('leaves cases that need a user inconclusive', async () => {
    const result = await runAgainst(await serve(agreeable), { credentials: user });
    const needing = result.verdicts.filter(({ needs }) => needs.includes('user'));
    expect(new Set(needing.map(({ reason }) => reason?.code))).toEqual(new Set(['user-unusable']));
  });
});

describe('a target that answers with HTML', () => {
  it('fails without an error of the suite', async () => {
    const page = '<!doctype html><title>Welcome</title>';
    const baseUrl = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(page);
    });
    const result = await runAgainst(baseUrl, { credentials: { token: 'any token' } });
    expect(result.outcome).toBe('fail');
    expect(idsOf(result, 'error')).toEqual([]);
    expect(idsOf(result, 'pass')).toEqual(optionsCases);
  });
});

describe('a target that refuses everything with 401', () => {
  it('passes only cases that expect a refusal', async () => {
    const baseUrl = await serve((_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"no"}');
    });
    const result = await runAgainst(baseUrl);
    expect(result.outcome).toBe('fail');
    expect(idsOf(result, 'fail')).toContain('authentication/missing-signature-is-400');
    expect(idsOf(result, 'pass')).toContain('connect/missing-token-is-401');
  });
});

describe('a target that closes every socket', () => {
  it('is inconclusive, and the run ends after five unanswered cases', async () => {
    const baseUrl = await serve((request) => request.socket.destroy());
    const result = await runAgainst(baseUrl, { credentials: user });
    expect(result.outcome).toBe('inconclusive');
    expect(result.totals.pass).toBe(0);
    expect(reasonsOf(result)).toEqual(['connection-closed', 'target-lost', 'user-unusable']);
    const closed = result.verdicts.filter(({ reason }) => reason?.code === 'connection-closed');
    expect(closed).toHaveLength(5);
  });
});

describe('a target that never answers', () => {
  it('is inconclusive after the time limit of a request', async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const baseUrl = await serve(() => clock.advance(5000));
    const result = await runAgainst(baseUrl, { clock });
    expect(result.outcome).toBe('inconclusive');
    expect(result.totals.pass).toBe(0);
    expect(reasonsOf(result)).toEqual(['request-time-limit', 'target-lost']);
  });
});

describe('a target whose response never ends', () => {
  const chunk = Buffer.alloc(1_048_576, 'a');
  /** Sends pieces of 1 MiB until the connection is closed. */
  function pour(response: ServerResponse): void {
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    more();
  }

  it('is inconclusive at the size limit, and the connection is closed', async () => {
    const cut: Promise<unknown>[] = [];
    const baseUrl = await serve((_, response) => {
      cut.push(once(response, 'close'));
      pour(response);
    });
    const result = await runAgainst(baseUrl, { selection: ['errors/error-says-why'] });
    expect(reasonsOf(result)).toEqual(['response-too-large']);
    expect(result.outcome).toBe('inconclusive');
    expect(JSON.stringify(result)).toContain(
      'the response is larger than 16777216 bytes; the suite read no further',
    );
    await Promise.all(cut);
  });

  it('is not read when its Content-Length exceeds the limit', async () => {
    const baseUrl = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 2 ** 40 });
      pour(response);
    });
    const result = await runAgainst(baseUrl, { selection: ['errors/error-says-why'] });
    expect(reasonsOf(result)).toEqual(['response-too-large']);
  });

  it.each([
    ['nests deeper than 100 levels', Buffer.alloc(200_000, '[')],
    ['holds more than 500000 values', Buffer.from(`[${'{},'.repeat(500_001)}0]`)],
  ])('is not parsed when the JSON of the response %s', async (how, body) => {
    const baseUrl = await serve((_, response) => response.writeHead(400).end(body));
    const result = await runAgainst(baseUrl, { selection: ['errors/error-says-why'] });
    expect(reasonsOf(result)).toEqual(['response-too-large']);
    expect(JSON.stringify(result)).toContain(`the response ${how}; the suite went no further`);
  });

  it('is inconclusive when it sends too many headers', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.end(`HTTP/1.1 200 OK\r\n${`x: ${'a'.repeat(1000)}\r\n`.repeat(1000)}`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const selection = ['errors/error-says-why', 'connect/'];
    const result = await runAgainst(`http://127.0.0.1:${port}`, { selection });
    expect(reasonsOf(result)).toEqual(['response-too-large']);
    expect(idsOf(result, 'error')).toEqual([]);
  });

  it('does not fill the memory with the evidence of large responses', async () => {
    const body = Buffer.alloc(15 * 1_048_576, 'a');
    const baseUrl = await serve((_, response) => response.end(body));
    const target = new Target({ baseUrl, clock: systemClock, requestTimeLimitMs: 20_000 });
    onTestFinished(() => target.close());
    const client = target.newClient();
    const texts: string[] = [];
    const usedBefore = usedBytes();
    for (let count = 0; count < 20; count++) {
      texts.push(responseSummary(await client.send({ method: 'GET', url: '/' })));
    }
    expect(client.exchangeList.exchanges).toHaveLength(20);
    expect(usedBytes() - usedBefore).toBeLessThan(10 * body.length);
    expect(texts).toHaveLength(20);
  });
});

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Returns the memory in use after garbage collection. */
function usedBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('a run that selects no case', () => {
  it('is inconclusive and decides no MUST', async () => {
    const baseUrl = await serve((_, response) => response.end());
    const result = await runAgainst(baseUrl, { ids: new Set() });
    expect(result.verdicts).toEqual([]);
    expect(result.outcome).toBe('inconclusive');
    expect(result.musts.decided).toBe(0);
  });
});

describe('a run that is interrupted', () => {
  it('reports the running case and all later cases as inconclusive', async () => {
    const ender = new AbortController();
    let requests = 0;
    const baseUrl = await serve((_, response) => {
      requests += 1;
      if (requests === 3) ender.abort();
      else response.writeHead(401).end();
    });
    const result = await runAgainst(baseUrl, { signal: ender.signal, probe: false });
    expect(reasonsOf(result)).toEqual(['interrupted']);
    expect(requests).toBe(3);
  });
});

describe('secrets of a run', () => {
  it('stay out of the result even if the target repeats them', async () => {
    const token = 'opaque-user-token-0123456789';
    const baseUrl = await serve((request, response) => {
      const isLogin = request.url?.endsWith('/login') ?? false;
      const repeated = JSON.stringify({ ...request.headers, password: user.password, token });
      response.writeHead(isLogin ? 200 : 500, { 'x-token': token }).end(isLogin ? token : repeated);
    });
    const seen: string[] = [];
    const result = await runAgainst(baseUrl, {
      credentials: user,
      onVerdict: (verdict) => seen.push(JSON.stringify(verdict)),
    });
    const written = `${JSON.stringify(result)}${seen.join('')}`;
    const basic = Buffer.from(`${user.email}:${user.password}`).toString('base64');
    expect(written).toContain('<masked:user-token>');
    for (const secret of [user.password, token, basic]) expect(written).not.toContain(secret);
  });
});
