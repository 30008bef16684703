import { describe, expect, it } from 'vitest';
import { readRestart, restartText } from './restarts.ts';

describe('a server restart written as text', () => {
  it.each([
    ['server, at: 40m, lasting: 15s'],
    ['server, at: 1234567ms, lasting: 1ms'],
    ['device: 12, at: 1h, lasting: 10s'],
    ['device: 0, at: 0s, lasting: 2d'],
  ])('is read and written as %s', (input) => {
    expect(restartText(readRestart(input))).toBe(input);
  });

  it('lasts ten seconds by default', () => {
    expect(restartText(readRestart('server, at: 90'))).toBe('server, at: 90s, lasting: 10s');
  });
});
