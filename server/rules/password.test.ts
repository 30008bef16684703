import { describe, expect, it } from 'vitest';
import { passwordProblem } from './password.ts';

describe('a new password', () => {
  it.each([
    ['1234567', 'at least 8 characters'],
    ['', 'at least 8 characters'],
    ['user@example.com', 'too similar'],
    ['USER@EXAMPLE.COM', 'too similar'],
    ['example.com', 'too similar'],
    ['r@example', 'too similar'],
  ])('is refused as %j', (password, reason) => {
    expect(passwordProblem(password, 'User@example.com')).toContain(reason);
  });

  it.each(['12345678', 'user@example.com!', 'mocelpmaxe', '\u00e4'.repeat(8)])(
    'may be %j',
    (password) => {
      expect(passwordProblem(password, 'user@example.com')).toBeUndefined();
    },
  );
});
