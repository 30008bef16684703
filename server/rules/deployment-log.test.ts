import { describe, expect, it } from 'vitest';
import { logText } from './deployment-log.ts';

describe('the log text of a device deployment', () => {
  it('has one line per message, in order, with UTC times in milliseconds', () => {
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
