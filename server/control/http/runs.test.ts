import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../testing/test-server.ts';
import { control } from '../../testing/test-tenants.ts';
import type { RunRequest, RunStarter } from '../sources/runs.ts';

/** Starts a fake run that prints lines and ends as the test decides. */
class Scripted {
  readonly requests: RunRequest[] = [];
  isReady = true;
  say: (line: string) => void = () => undefined;
  end: (exitCode: number | null) => void = () => undefined;

  readonly start: RunStarter = (request, onLine) => {
    if (!this.isReady) return undefined;
    this.requests.push(request);
    this.say = onLine;
    const ended = new Promise<number | null>((resolve) => {
      this.end = resolve;
    });
    return { ended, stop: () => this.end(null) };
  };
}

let scripted: Scripted;
let server: TestServer;

beforeEach(async () => {
  scripted = new Scripted();
  server = await startTestServer({ startRun: scripted.start });
});

afterEach(() => server.close());

const fleet = { kind: 'simulation', devices: 5, seconds: 10 };
const start = (json: unknown = fleet) => control(server, 'POST', '/runs', json);

async function runs() {
  return JSON.parse((await control(server, 'GET', '/runs')).text);
}

/** Returns the lines of a run up to the line about its exit. */
async function linesOf(id: number): Promise<string[]> {
  const response = await fetch(`${server.controlUrl}/runs/${id}/stream`, {
    headers: { Authorization: `Bearer ${server.controlToken}` },
  });
  const lines: string[] = [];
  let incompleteText = '';
  for await (const chunk of response.body ?? []) {
    incompleteText += Buffer.from(chunk).toString();
    const messages = incompleteText.split('\n\n');
    incompleteText = messages.pop() ?? '';
    for (const message of messages) {
      const data = /^data: (.*)$/m.exec(message)?.[1];
      if (data !== undefined) lines.push(JSON.parse(data));
    }
    if (lines.at(-1)?.includes('"exit"')) break;
  }
  return lines;
}

describe('runs on the control listener', () => {
  it('can be started, followed to their end, and listed', async () => {
    const { status, text } = await start();
    expect(status).toBe(201);
    expect(JSON.parse(text)).toMatchObject({ id: 1, request: fleet, state: 'running' });
    scripted.say('first');
    const read = linesOf(1);
    scripted.say('second');
    scripted.end(0);
    expect(await read).toEqual(['first', 'second', '{"type":"exit","exitCode":0}']);
    expect((await runs()).runs).toMatchObject([{ id: 1, state: 'ended', exitCode: 0, lines: 2 }]);
    expect(await linesOf(1)).toHaveLength(3);
    expect(scripted.requests).toEqual([fleet]);
  });

  it('are limited to one at a time, and can be stopped', async () => {
    await start();
    expect((await start()).status).toBe(409);
    expect((await control(server, 'DELETE', '/runs/1')).status).toBe(204);
    expect(await linesOf(1)).toEqual(['{"type":"exit","exitCode":null}']);
    expect((await control(server, 'DELETE', '/runs/1')).status).toBe(409);
    expect((await start()).status).toBe(201);
  });

  it('return 503 while they are unavailable, and start later', async () => {
    scripted.isReady = false;
    expect(await start()).toMatchObject({ status: 503 });
    expect((await runs()).runs).toEqual([]);
    scripted.isReady = true;
    expect(JSON.parse((await start()).text)).toMatchObject({ id: 1, state: 'running' });
  });

  it('report how many of their lines were dropped', async () => {
    await start();
    scripted.say('x'.repeat(262_145));
    for (let line = 0; line < 5002; line++) scripted.say('line');
    scripted.end(0);
    const lines = await linesOf(1);
    expect(lines).toHaveLength(5001);
    expect(lines.at(-1)).toBe('{"type":"exit","exitCode":0,"leftOut":3}');
    expect((await runs()).runs).toMatchObject([{ lines: 5000, leftOut: 3 }]);
  });

  it('end when the server ends', async () => {
    await start();
    let isStopped = false;
    const end = scripted.end;
    scripted.end = (exitCode) => {
      isStopped = true;
      end(exitCode);
    };
    await server.close();
    expect(isStopped).toBe(true);
  });

  it.each([
    [{}],
    [{ kind: 'anything' }],
    [{ kind: 'simulation', devices: 0 }],
    [{ kind: 'simulation', devices: 1001 }],
    [{ kind: 'simulation', seconds: 1.5 }],
    [{ kind: 'conformance', cases: '--json' }],
    [{ kind: 'conformance', cases: 'a; rm -rf /' }],
    [{ kind: 'conformance', url: 'http://elsewhere.example' }],
  ])('return 400 for the request %j', async (json) => {
    expect((await start(json)).status).toBe(400);
    expect(scripted.requests).toEqual([]);
  });

  it('return 404 when their ID is unknown', async () => {
    expect((await control(server, 'DELETE', '/runs/7')).status).toBe(404);
    expect((await control(server, 'GET', '/runs/x/stream')).status).toBe(404);
  });

  it('require the control token', async () => {
    const response = await fetch(`${server.controlUrl}/runs`, { method: 'POST' });
    expect(response.status).toBe(401);
  });
});

describe('the control listener of an embedded server', () => {
  it('refuses to start runs, with the reason', async () => {
    const embedded = await startTestServer();
    try {
      const { text } = await control(embedded, 'GET', '/runs');
      expect(JSON.parse(text)).toEqual({ available: false, runs: [] });
      expect((await control(embedded, 'POST', '/runs', fleet)).status).toBe(409);
    } finally {
      await embedded.close();
    }
  });
});
