import { describe, expect, it } from 'vitest';
import { containsMarker } from './valid-requests.ts';

describe('the marker of a valid request', () => {
  it.each([
    ['the text itself', 'a marker here', true],
    ['a member at any depth', { list: [{ value: 'marker' }] }, true],
    ['text that was written with escapes', JSON.parse('{"value":"\\u006darker"}'), true],
    ['other text, numbers and null', { list: ['mark', 7, null] }, false],
    ['a response without a body', undefined, false],
  ])('looks for a marker in parsed values: %s', (_, value, expected) => {
    expect(containsMarker(value, 'marker')).toBe(expected);
  });
});
