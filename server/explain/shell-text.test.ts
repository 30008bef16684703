import { describe, expect, it } from 'vitest';
import { runInBash } from '../testing/test-explanations.ts';
import { quotedText } from './shell-text.ts';

/** Returns the arguments that bash parses from the arguments. */
async function argumentsIn(args: readonly string[], variables = {}): Promise<string[]> {
  const script = args.map((word) => `printf '%s\\0' ${word}`).join('\n');
  const { stdout, stderr } = await runInBash(`${script}\nls -A`, variables);
  expect(stderr).toBe('');
  return stdout.split('\0');
}

describe('a quoted text with variables', () => {
  it('inserts the values as plain text without any expansion', async () => {
    const value = 'a b*\'"$(touch made)';
    const args = [
      quotedText(['Authorization: Bearer ', { variable: 'VALUE' }]),
      quotedText([{ variable: 'VALUE' }, '/path']),
      quotedText([{ variable: 'VALUE' }, 'letters']),
      quotedText(['{"password":"', { variable: 'VALUE' }, '"} $(x) !']),
      quotedText([]),
    ];
    expect(await argumentsIn(args, { VALUE: value })).toEqual([
      `Authorization: Bearer ${value}`,
      `${value}/path`,
      `${value}letters`,
      `{"password":"${value}"} $(x) !`,
      '',
      '',
    ]);
  });
});
