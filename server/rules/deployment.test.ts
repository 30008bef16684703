import { describe, expect, it } from 'vitest';
import { deviceDeploymentStatuses } from '../../fixtures/contract/vocabulary.ts';
import { controlMapOf } from './control-map.ts';
import { logText } from './deployment-log.ts';
import { statusOf } from './deployment-status.ts';

describe('the state of a whole deployment', () => {
  const touched = deviceDeploymentStatuses.filter((status) => status !== 'pending');

  it.each(touched)('is in progress as soon as one part is %s', (status) => {
    expect(
      statusOf(
        {},
        new Map([
          ['pending', 9],
          [status, 1],
        ]),
      ),
    ).toBe('inprogress');
  });

  it('is pending while every part is, and a count of zero is none', () => {
    expect(statusOf({}, new Map([['pending', 9]]))).toBe('pending');
    expect(
      statusOf(
        {},
        new Map([
          ['pending', 9],
          ['success', 0],
        ]),
      ),
    ).toBe('pending');
    expect(statusOf({}, new Map())).toBe('pending');
  });

  it('is finished once it has an end, whatever the parts are', () => {
    expect(statusOf({ finishedMs: 0 }, new Map([['pending', 9]]))).toBe('finished');
  });
});

describe('the map that a device gets', () => {
  const id = '11111111-1111-4111-8111-111111111111';

  it('has the id of the deployment, whatever id the user gave', () => {
    const controlMap = { id: '22222222-2222-4222-8222-222222222222', priority: 3 };
    expect(controlMapOf({ id, controlMap })).toEqual({ id, priority: 3 });
    expect(controlMapOf({ id, controlMap: {} })).toEqual({ id });
  });

  it('is none when the deployment has none', () => {
    expect(controlMapOf({ id })).toBeUndefined();
  });
});

describe('the log of a deployment', () => {
  it('is one line a message, in order, with times in UTC and milliseconds', () => {
    const messages = [
      { timestamp: '2026-01-31T12:00:00+02:00', level: 'info', message: 'first' },
      { timestamp: '2026-01-31t10:00:00.123456z', level: 'ERROR', message: 'second: done' },
      { timestamp: '2016-12-31T23:59:60Z', level: 'debug', message: 'leap' },
    ];
    expect(logText({ messages })).toBe(
      '2026-01-31T10:00:00.000Z info: first\n' +
        '2026-01-31T10:00:00.123Z ERROR: second: done\n' +
        '2017-01-01T00:00:00.000Z debug: leap\n',
    );
  });
});
