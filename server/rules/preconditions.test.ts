import { describe, expect, it } from 'vitest';
import { ifMatchHolds } from './preconditions.ts';

describe('the If-Match header', () => {
  it.each<[string | undefined, string | undefined, boolean]>([
    [undefined, 'v1', true],
    [undefined, undefined, true],
    ['*', 'v1', true],
    ['*', undefined, true],
    ['"v1"', 'v1', true],
    ['v1', 'v1', true],
    ['"v0", "v1"', 'v1', true],
    ['"v2"', 'v1', false],
    ['"v"', 'v1', false],
    ['W/"v1"', 'v1', false],
    ['', 'v1', false],
    ['"v1"', undefined, false],
    ['', undefined, false],
  ])('%j matches the version %s: %s', (header, version, expected) => {
    expect(ifMatchHolds(header, version)).toBe(expected);
  });
});
