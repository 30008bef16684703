import type { RequestListener } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { SetupError } from '../target/setup-error.ts';
import { selfSigned } from '../testing/certificate.ts';
import { runAgainst } from '../testing/run-against.ts';
import { closedPortUrl, serve } from '../testing/stub-server.ts';

const preflight = true;
const welcome = '<!doctype html>\n<html><head><title>Welcome to nginx!</title></head></html>';
const html = { 'content-type': 'text/html' };

/** Responses that are not from this API, each with the expected error message. */
const wrong: Readonly<Record<string, readonly [RequestListener, RegExp]>> = {
  'a page of nginx': [
    (_, response) => response.writeHead(200, html).end(welcome),
    /answers 200 OK with the HTML page Welcome to nginx!; this is not the device API/,
  ],
  'a page that wants a login': [
    (_, response) => response.writeHead(401, html).end('<h1>Log <b>in</b></h1>'),
    /answers 401 Unauthorized with the HTML page Log +in ?/,
  ],
  'a redirect': [
    (_, response) => response.writeHead(301, { location: 'https://elsewhere.example/' }).end(),
    /answers 301, a redirect to https:\/\/elsewhere\.example\/; this is not the device API, or a login page stands before it/,
  ],
  'a redirect to the same path elsewhere': [
    ({ url }, response) => response.writeHead(308, { location: `https://api.example${url}` }).end(),
    /answers 308, a redirect to https:\S+; give --url https:\/\/api\.example$/,
  ],
  'a gateway with a login of its own': [
    (_, response) =>
      response.writeHead(401, { ...html, 'www-authenticate': 'Basic' }).end('<h1>401'),
    /answers 401 Unauthorized with the HTML page 401; a gateway requires a login of its own/,
  ],
  'a gateway without its server': [
    (_, response) => response.writeHead(503, { 'retry-after': '60' }).end('no healthy upstream'),
    /answers 503 Service Unavailable with the body no healthy upstream; wait until/,
  ],
  'another API': [
    (_, response) => response.writeHead(404).end('{"detail":"Not Found"}'),
    /answers 404 Not Found with the body {"detail":"Not Found"}; this is not the device API/,
  ],
  'a server that takes everything': [
    (_, response) => response.end('{"ok":true}'),
    /answers 200 OK with the body {"ok":true}/,
  ],
};

describe('a run against a server that is not this API', () => {
  it.each(Object.keys(wrong))('ends before the first case when it meets %s', async (name) => {
    const [listener, sentence] = wrong[name] ?? [() => undefined, /never/];
    const paths = new Set<string>();
    const baseUrl = await serve((request, response) => {
      paths.add(request.url ?? '');
      listener(request, response);
    });
    const error = await runAgainst(baseUrl, { preflight }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SetupError);
    expect(error).toHaveProperty('message', expect.stringMatching(sentence));
    expect(error).toHaveProperty('message', expect.stringMatching(/^http[^\n]+; [^\n]+$/));
    expect(paths.size).toBe(2);
  });

  it('ends after five seconds when nothing answers', async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const baseUrl = await serve(() => clock.advance(5000));
    const run = runAgainst(baseUrl, { preflight, clock, requestTimeLimitMs: 60_000 });
    await expect(run).rejects.toThrow(/does not answer HTTP requests \(no response within 5 s\)/);
  });

  it('suggests https when the port answers with TLS', async () => {
    const baseUrl = await serve((_, response) => response.end(), await selfSigned());
    const run = runAgainst(baseUrl.replace('https:', 'http:'), { preflight });
    await expect(run).rejects.toThrow(
      /answers with TLS instead of HTTP; try https:\/\/127\.0\.0\.1:\d+$/,
    );
  });

  it.each(['http', 'https'])(
    'reports that the server speaks no HTTP, requested by %s',
    async (scheme) => {
      const server = createServer((socket) => {
        socket.on('error', () => undefined).end('220 mail.example ESMTP\r\n');
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void server.close());
      const { port } = server.address() as { port: number };
      const run = runAgainst(`${scheme}://127.0.0.1:${port}`, { preflight });
      await expect(run).rejects.toThrow(/accepts connections but does not answer HTTP requests/);
    },
  );

  it.each([
    [
      '<title>Log in</title>',
      /: the login was answered with 200 OK with the HTML page Log in; check/,
    ],
    ['{"token":"secret"}', /: the login was answered with 200 without a plain token; check --url/],
    ['', /: the login was answered with 200 OK without a body; check/],
  ])('ends when the login is answered %j, and shows no secret', async (body, sentence) => {
    const baseUrl = await serve(({ url = '' }, response) => {
      if (url.includes('/login')) response.end(body);
      else response.writeHead(401).end();
    });
    const credentials = { email: 'user@example.com', password: 'any' };
    const run = runAgainst(baseUrl, { preflight, credentials });
    await expect(run).rejects.toThrow(sentence);
    await expect(run).rejects.not.toThrow(/secret/);
  });

  it.each([
    [{ email: 'user@example.com', password: 'any' }, /the login was answered with 404/],
    [{ token: 'any' }, /the list of devices was answered with 404/],
  ])('ends when the user cannot be used: %o', async (credentials, sentence) => {
    const baseUrl = await serve(({ url = '' }, response) => {
      response.writeHead(url.startsWith('/api/management') ? 404 : 401).end();
    });
    await expect(runAgainst(baseUrl, { preflight, credentials })).rejects.toThrow(sentence);
  });
});

describe('a run that waits for its target', () => {
  const waiting = { preflight, waitForTargetMs: 60_000, selection: ['errors/error-says-why'] };

  /** Returns options with a clock of which each failed attempt takes a second. */
  function waitingWith() {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const reasons: string[] = [];
    const onWait = ({ message }: Error): void => {
      reasons.push(message);
      setImmediate(() => clock.advance(1000));
    };
    return { reasons, options: { ...waiting, clock, onWait } };
  }

  it('starts when gateway errors have ended, whichever part of the API they were from', async () => {
    const down = ['auth_requests', 'auth_requests', 'deployments/next', 'deployments/next'];
    const baseUrl = await serve(({ url = '' }, response) => {
      const isDown = down[0] !== undefined && url.includes(down[0]);
      if (isDown) down.shift();
      response.writeHead(isDown ? 503 : 401).end('{"error":"no"}');
    });
    const { reasons, options } = waitingWith();
    const { verdicts } = await runAgainst(baseUrl, options);
    expect(verdicts).toHaveLength(1);
    expect(reasons).toHaveLength(3);
    expect(new Set(reasons)).toEqual(new Set([expect.stringContaining('answers 503')]));
  });

  it.each<[string, () => Promise<string>, RegExp]>([
    ['refuses connections', closedPortUrl, /within 1m: nothing answers at http:\S+ \(/],
    [
      'stays behind its gateway',
      () => serve((_, response) => response.writeHead(502).end()),
      /^the target did not start within 1m: http:\S+ answers 502 Bad Gateway without a body; /,
    ],
    [
      'logs nobody in',
      () =>
        serve(({ url = '' }, response) =>
          response.writeHead(url.includes('useradm') ? 503 : 401).end(),
        ),
      /within 1m: http:\S+: the login was answered with 503 /,
    ],
  ])('ends after that time when the target %s', async (_, open, sentence) => {
    const { reasons, options } = waitingWith();
    const credentials = { email: 'user@example.com', password: 'any' };
    const run = runAgainst(await open(), { ...options, credentials });
    await expect(run).rejects.toThrow(sentence);
    expect(reasons).toHaveLength(60);
  });

  it('does not wait for a server that is not this API', async () => {
    const { reasons, options } = waitingWith();
    const baseUrl = await serve((_, response) => response.writeHead(404).end());
    await expect(runAgainst(baseUrl, options)).rejects.toThrow(/this is not the device API/);
    expect(reasons).toEqual([]);
  });

  it('ends at once when it is interrupted', async () => {
    const interrupt = new AbortController();
    const { options } = waitingWith();
    const onWait = (): void => interrupt.abort();
    const run = runAgainst(await closedPortUrl(), { ...options, onWait, signal: interrupt.signal });
    await expect(run).rejects.toThrow(SetupError);
  });
});

describe('a server of this API with one broken operation', () => {
  it.each(['auth_requests', 'deployments/next'])(
    'is still judged when the path %s answers 500',
    async (path) => {
      const baseUrl = await serve(({ url = '' }, response) => {
        if (url.endsWith(path)) response.writeHead(500).end('Internal Server Error');
        else response.writeHead(401).end('{"error":"no"}');
      });
      const { verdicts } = await runAgainst(baseUrl, {
        preflight,
        selection: ['errors/error-says-why'],
      });
      expect(verdicts).toHaveLength(1);
    },
  );
});
