import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { logLevels, type ServerLogLevel } from '../settings.ts';
import { openLog } from './log.ts';

const written: string[] = [];

beforeEach(() => {
  written.length = 0;
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
});

afterEach(() => vi.restoreAllMocks());

/** Returns the levels whose lines appear in a log of this level. */
function shownBy(level: ServerLogLevel): readonly string[] {
  const log = openLog(level);
  for (const each of ['debug', 'info', 'warn', 'error'] as const) log[each](`line of ${each}`);
  return written.flatMap((text) => /line of (\w+)/.exec(text)?.[1] ?? []);
}

describe('a server log', () => {
  it.each<[ServerLogLevel, readonly string[]]>([
    ['silent', []],
    ['error', ['error']],
    ['warn', ['warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['debug', ['debug', 'info', 'warn', 'error']],
  ])('shows at level %s the levels %j', (level, expected) => {
    expect(shownBy(level)).toEqual(expected);
  });

  it('reports whether debug lines are worth building', () => {
    expect(logLevels.filter((level) => openLog(level).debugOn)).toEqual(['debug']);
  });

  it('shows the cause of an error if there is one', () => {
    openLog('error').error('500 here', new Error('the disk is full'));
    expect(written.join('')).toContain('the disk is full');
    openLog('error').error('500 there');
    expect(written.join('')).toContain('500 there');
  });

  it('keeps a message with a line break on one line', () => {
    openLog('info').info('401 GET /x\n[error] forged: \u001b[2J');
    expect(written.join('').trimEnd().split('\n')).toHaveLength(1);
    expect(written.join('')).not.toContain('\u001b[2J');
  });
});

describe('text from outside in a log line', () => {
  it.each([
    ['line breaks', 'a\nb\rc', 'a\\u{a}b\\u{d}c'],
    ['escape sequences', '\u001b[31mred', '\\u{1b}[31mred'],
    ['a bell, a backspace and a NUL', '\u0007\b\0', '\\u{7}\\u{8}\\u{0}'],
    ['the control characters of Latin-1', '\u0085\u009b2J', '\\u{85}\\u{9b}2J'],
    ['a delete', 'a\u007f', 'a\\u{7f}'],
  ])('has its control characters escaped: %s', (_, text, expected) => {
    openLog('info').info(text);
    expect(written.join('')).toBe(`[info] ${expected}\n`);
  });

  it('keeps all other characters', () => {
    const text = 'caf\u00e9 \u4e2d\u{1f600} {"a":1}';
    openLog('info').info(text);
    expect(written.join('')).toBe(`[info] ${text}\n`);
  });
});
