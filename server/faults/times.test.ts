import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startOfTest, startTestServer, type TestServer } from '../testing/test-server.ts';
import { readPlan } from './plan-text.ts';
import { plan, ruleCounts } from './testing/planned.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer();
});

afterEach(() => server.close());

const timeAt = (seconds: number): string => new Date(startOfTest + seconds * 1000).toISOString();
const match = { operation: 'count-devices' };
const act = { kind: 'respond', status: 503 };

async function statusAfter(seconds: number): Promise<number> {
  server.clock.advance(seconds * 1000);
  return (await server.call('count-devices', { token: server.adminToken })).status;
}

describe('the times of a fault rule', () => {
  it('can be a number, which is the number of calls', async () => {
    await plan(server, { match, act, times: 3 });
    const statuses = [await statusAfter(0), await statusAfter(0), await statusAfter(0)];
    expect([...statuses, await statusAfter(0)]).toEqual([503, 503, 503, 200]);
    expect(await ruleCounts(server)).toMatchObject({ fired: 3, left: 0 });
  });
});

describe('a fault rule with a time window', () => {
  it("is active from its start until its end on the server's clock", async () => {
    const times = 'until-cleared';
    await plan(server, { match, act, times, from: timeAt(60), until: timeAt(120) });
    const seen = [await statusAfter(59), await statusAfter(1), await statusAfter(59)];
    expect([...seen, await statusAfter(1)]).toEqual([200, 503, 503, 200]);
    expect(await ruleCounts(server)).toMatchObject({ matched: 2, fired: 2 });
  });

  it('does not count requests before its start', async () => {
    await plan(server, { match: { ...match, nthCall: 2 }, act, from: timeAt(60) });
    const early = [await statusAfter(0), await statusAfter(0)];
    expect([...early, await statusAfter(60), await statusAfter(0)]).toEqual([200, 200, 200, 503]);
  });

  it.each([
    ['from: 2026-01-01', 'from: must be an RFC 3339 date-time with an offset'],
    ['until: tomorrow', 'until: must be an RFC 3339 date-time with an offset'],
    ['from: 7', 'from: must be a string, not 7'],
    [
      'from: 2026-01-01T00:00:00Z, until: 2026-01-01T01:00:00+01:00',
      'until: must be later than from',
    ],
  ])('is refused with the window {%s}', (times, sentence) => {
    const read = readPlan(`rules:\n- {id: a, act: reset, ${times}}\n`);
    const [problem] = 'problems' in read ? read.problems : [];
    expect(problem?.message).toContain(sentence);
  });
});
