import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { NewCaseError, newRows } from './new-rows.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const sentence = 'Alerts of one request are shown in the order in which they were sent.';
const order = {
  id: 'monitor/alerts-keep-their-order',
  requirement: 'alerts.keep-their-order',
  neighbour: 'alerts.are-shown',
  sentence,
};

describe('the rows that a new case adds to tables', () => {
  it('concern three tables of the area for a new requirement', () => {
    expect(newRows(root, order).map(({ path }) => path)).toEqual([
      'fixtures/contract/requirements/monitor.ts',
      'conformance/cases/monitor/monitor.ts',
      'conformance/self-test/defects/monitor.ts',
    ]);
  });

  it('contain the new requirement directly after the named one, in the same group', () => {
    const [requirement] = newRows(root, order);
    const [, rowBefore, row] =
      /\n {4}('alerts\.are-shown':.*?,\n) {4}('alerts\.keep-their-order': [^\n]*)\n {4}'/s.exec(
        requirement?.text ?? '',
      ) ?? [];
    expect(rowBefore?.split('\n').length).toBeLessThan(4);
    expect(row).toBe(`'alerts.keep-their-order': ${JSON.stringify(sentence)},`);
  });

  it('give the new requirement the same level as the named one', () => {
    const neighbour = 'alerts.empty';
    const [requirement, cases] = newRows(root, { ...order, neighbour });
    expect(requirement?.text).toContain(
      `'alerts.keep-their-order': { may: ${JSON.stringify(sentence)} },`,
    );
    expect(cases?.text).toMatch(/requirements: \['alerts\.keep-their-order'\],\n +observe: /);
  });

  it.each([
    {
      which: 'that a defect breaks already',
      requirement: 'alerts.are-accepted',
      id: 'monitor/alerts-are-kept',
      path: 'conformance/cases/monitor/monitor.ts',
    },
    {
      which: 'of an area without a table of defects',
      requirement: 'log.is-kept',
      id: 'quantities/log-of-two-is-kept',
      path: 'conformance/cases/every-operation/quantities.ts',
    },
  ])('are only a row of the case for a requirement $which', ({ requirement, id, path }) => {
    const changed = newRows(root, { id, requirement });
    expect(changed.map(({ path }) => path)).toEqual([path]);
    expect(changed[0]?.text).toContain(`requirements: ['${requirement}'],`);
  });

  it.each([
    [{ id: '' }, 'is not AREA/NAME'],
    [{ id: 'monitor' }, 'is not AREA/NAME'],
    [{ id: 'monitor/../x' }, 'is not AREA/NAME'],
    [{ id: 'monitor/alerts-are-204' }, 'the case monitor/alerts-are-204 already exists'],
    [{ id: 'novel/it-works' }, 'conformance/cases/novel/novel.ts has no list of cases'],
    [{ requirement: 'alerts.are-shown' }, 'the requirement alerts.are-shown already exists'],
    [{ neighbour: 'alerts.are-shwn' }, 'the nearest: alerts.are-shown'],
    [{ sentence: 'no sentence' }, 'is not a full sentence'],
    [
      { requirement: 'alerts.are-acepted', neighbour: undefined, sentence: undefined },
      'the nearest: alerts.are-accepted',
    ],
  ])('are refused with a message for the arguments %j', (change, message) => {
    const add = () => newRows(root, { ...order, ...change });
    expect(add).toThrow(NewCaseError);
    expect(add).toThrow(message);
  });
});
