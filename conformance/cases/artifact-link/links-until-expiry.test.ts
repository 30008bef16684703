import { describe, expect, it } from 'vitest';
import { NotObservable } from '../../target/expectations.ts';
import { nameIn } from './links-until-expiry.ts';

describe('the artifact name in a response', () => {
  it.each(['', 'no JSON', 'null', '[]', '{}', '{"name":7}'])('is unobservable in %j', (text) => {
    expect(() => nameIn({ text })).toThrow(NotObservable);
  });

  it('is read from the member `name` of the body', () => {
    expect(nameIn({ text: '{"name":"release-1"}' })).toBe('release-1');
  });
});
