import { describe, expect, it } from 'vitest';
import { dutyLevels } from '../../fixtures/control/clients.ts';
import { clientLines } from './duties-text.ts';
import { joinResults } from './join-results.ts';

const options = {
  command: './client',
  advertise: '127.0.0.1',
  port: 0,
  headerPrefix: 'X-SVC-',
  payloadType: 'single-file',
  seed: '1',
  folder: 'unused',
  selection: [],
  skips: new Map(),
  parallel: 1,
  contactMs: 1000,
  retryMs: 1000,
  isCut: false,
  capabilities: [],
  failOn: 'should' as const,
  waivers: [],
};
const { duties } = joinResults({
  options,
  capabilities: [],
  cutBy: 'process killed',
  ended: [],
  skipped: [],
  signal: new AbortController().signal,
  today: '2026-11-28',
});

describe('the order of duties', () => {
  it('has every MUST first, then the SHOULDs, in the result from which all reports are made', () => {
    const levels = duties.map(({ level }) => level);
    expect([...new Set(levels)]).toEqual(dutyLevels);
    expect(levels).toEqual(
      levels.toSorted((one, other) => dutyLevels.indexOf(one) - dutyLevels.indexOf(other)),
    );
  });

  it('has a broken MUST before a broken SHOULD in the list of duties', () => {
    const broken = duties.toReversed().map((duty) => ({
      ...duty,
      state: 'broken' as const,
      violations: [],
    }));
    const text = clientLines({ client: 'one', exchanges: 1, dropped: 0, duties: broken }).join(
      '\n',
    );
    expect(text.lastIndexOf(' (must)')).toBeLessThan(text.indexOf(' (should)'));
  });
});
