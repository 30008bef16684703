import { describe, expect, it } from 'vitest';
import { NotObservable } from '../target/expectations.ts';
import { nameIn } from './lasting-links.ts';

describe('the name of an artifact', () => {
  it.each(['', 'no JSON', 'null', '[]', '{}', '{"name":7}'])('is not observable in %j', (text) => {
    expect(() => nameIn({ text })).toThrow(NotObservable);
  });

  it('is the one that the answer has', () => {
    expect(nameIn({ text: '{"name":"release-1"}' })).toBe('release-1');
  });
});
