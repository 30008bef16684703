import { describe, expect, it } from 'vitest';
import { TrafficCount } from './findings.ts';
import type { RecordedExchange } from './recording.ts';
import { rowName, scheduleOn } from './schedule.ts';
import { trafficSentence, trafficText } from './text.ts';

function call(path: string, given: Partial<RecordedExchange> = {}): RecordedExchange {
  const bodies = { requestBody: () => undefined, responseBody: () => undefined };
  const pathname = `/api/management/${path}`;
  return { atMs: Date.UTC(2026, 9, 1), method: 'GET', pathname, status: 200, ...bodies, ...given };
}

const roles = 'v1/useradm/roles';
const answering = (body: unknown) => ({ responseBody: () => body });
const artifacts = answering([{ updates: [{ meta_data: {} }] }]);

async function trafficOf(exchanges: readonly RecordedExchange[], on = '2026-10-18') {
  const count = new TrafficCount(scheduleOn(on));
  await count.add('a.har', 'har', exchanges);
  return count.traffic();
}

describe('the findings in recorded traffic', () => {
  it('are counted by row in schedule order, with first and last time', async () => {
    const [early, late] = [Date.UTC(2025, 0, 2, 3, 4, 5), Date.UTC(2026, 0, 1)];
    const traffic = await trafficOf([
      call(roles),
      call('v1/deployments/artifacts/list', answering([])),
      call(roles, { atMs: early }),
      call(roles, { atMs: late }),
    ]);
    const seen = traffic.findings.map((row) => [
      rowName(row),
      row.exchanges,
      row.firstSeen,
      row.lastSeen,
    ]);
    const october = '2026-10-01T00:00:00.000Z';
    expect(seen).toEqual([
      ['GET v1 /deployments/artifacts/list', 1, october, october],
      ['GET v1 /useradm/roles', 3, '2025-01-02T03:04:05.000Z', october],
    ]);
  });

  it('are counted over several recordings, each with its name', async () => {
    const count = new TrafficCount(scheduleOn('2026-10-18'));
    await count.add('a.har', 'har', [call(roles), call('v2/useradm/roles')]);
    await count.add('b.ndjson', 'journal', [call(roles), call('', { pathname: '/index.html' })]);
    const { recordings, findings } = count.traffic();
    expect(recordings).toEqual([
      { file: 'a.har', format: 'har', exchanges: 2, calls: 2 },
      { file: 'b.ndjson', format: 'journal', exchanges: 2, calls: 1 },
    ]);
    expect(findings.map(({ exchanges }) => exchanges)).toEqual([2]);
  });

  it('count the calls that were answered with 410 as refused already', async () => {
    const statuses = [410, 404, 200, 410, 500];
    const { findings } = await trafficOf(statuses.map((status) => call(roles, { status })));
    expect(findings).toMatchObject([{ exchanges: 5, refused: 2 }]);
    const otherTraffic = await trafficOf([call('v2/useradm/roles', { status: 410 })]);
    expect(otherTraffic.findings).toEqual([]);
  });

  it('contain a call and a field when one exchange uses both', async () => {
    const { findings } = await trafficOf([call('v1/deployments/artifacts', artifacts)]);
    expect(findings.map(({ kind }) => kind)).toEqual(['call', 'field']);
  });
});

describe('the outcome of recorded traffic', () => {
  it.each<[string, string, readonly RecordedExchange[]]>([
    ['nothing', 'of no exchange at all', []],
    ['nothing', 'of other traffic', [call('', { pathname: '/useradm/roles' })]],
    ['clear', 'of a call that stays', [call('v2/useradm/roles')]],
    ['clear', 'of a call of a device', [call('', { pathname: '/api/devices/v2/x' })]],
    ['reads', 'of a field in a response', [call('v2/deployments/artifacts', artifacts)]],
    ['uses', 'of a deprecated call', [call(roles), call('v2/deployments/artifacts', artifacts)]],
    [
      'uses',
      'of a field that is sent',
      [call('v1/deployments/artifacts', { method: 'POST', requestBody: () => ({ size: '1' }) })],
    ],
  ])('is %j in the case %s', async (outcome, _, exchanges) => {
    expect((await trafficOf(exchanges)).outcome).toBe(outcome);
  });

  it.each(['2020-01-01', '2027-08-24', '2027-08-25', '2030-01-01'])(
    'is the same on %s, because the day changes only the state',
    async (on) => {
      const { outcome, findings } = await trafficOf([call(roles)], on);
      expect({ outcome, endOfLife: findings[0]?.endOfLife }).toEqual({
        outcome: 'uses',
        endOfLife: '2027-08-25',
      });
    },
  );
});

describe('the sentence on recorded traffic', () => {
  it.each<[string, readonly RecordedExchange[]]>([
    ['nothing was checked: the traffic has no calls of this API.', []],
    ['nothing deprecated is used in 1 call.', [call('v2/useradm/roles')]],
    ['1 row of the schedule used in 2 calls.', [call(roles), call(roles)]],
    [
      'nothing deprecated is used in 1 call. 1 call may carry a deprecated field in a body that was not recorded.',
      [call('v2/deployments/artifacts')],
    ],
    [
      '1 row of the schedule in 1 call, all in response fields: clients that read them must change.',
      [call('v2/deployments/artifacts', artifacts)],
    ],
  ])('is %j', async (sentence, exchanges) => {
    expect(trafficSentence(await trafficOf(exchanges))).toBe(sentence);
  });
});

describe('the table of findings in recorded traffic', () => {
  it('shows the end-of-life day, the days left and the replacement of every row', async () => {
    const findingsText = (on: string) =>
      trafficOf([call(roles, { status: 410 }), call(roles)], on).then(trafficText);
    const text = await findingsText('2027-08-23');
    expect(text).toMatch(/GET v1 \/useradm\/roles +│ 2 +│ 2026-10-01T00:00:00Z │ 2027-08-25, /);
    expect(text).toMatch(/in 2 days; /);
    expect(text).toMatch(/410 already: [\s\S]*1 of 2 /);
    expect(text).toContain('GET v2 /useradm/roles, with GET v2');
    expect(await findingsText('2027-08-25')).toMatch(/today; /);
    expect(await findingsText('2027-09-01')).toMatch(/7 days ago; /);
  });

  it('is omitted when nothing deprecated is used', async () => {
    const text = trafficText(await trafficOf([call('v2/useradm/roles')]));
    expect(text).toBe('nothing deprecated is used in 1 call.');
  });
});
