import { expect, it } from 'vitest';
import { ManualClock } from '../../fixtures/base/clock.ts';
import { statusBecomes } from './alterations.ts';
import type { Defect } from './defect.ts';
import { DefectProbe } from './probe.ts';
import type { ProxiedExchange } from './proxy.ts';

const defect: Defect = {
  id: 'refusals-are-404',
  title: 'Every 401 is a 404.',
  violates: ['tokens.missing-is-401'],
  operations: 'all',
  alter: statusBecomes(401, 404),
};

const message = { headers: {}, body: Buffer.alloc(0) };
const refused: ProxiedExchange = {
  request: {
    ...message,
    ...{ method: 'GET', path: '/', query: '', parameters: {} },
    ...{ operation: 'get-inventory', operationsAtPath: [] },
  },
  response: { ...message, status: 401 },
  userToken: '',
};

it('the defect probe examines the exchanges behind an endless one at the end of the run', async () => {
  const clock = new ManualClock(0);
  const probe = new DefectProbe([defect], clock);
  probe.examine(new Promise(() => undefined));
  probe.examine(Promise.resolve(refused));
  const found = probe.begin();
  const finished = probe.waitUntilExamined();
  clock.advance(5000);
  await finished;
  expect([...found]).toEqual(['refusals-are-404']);
});
