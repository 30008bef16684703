import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printableText } from '../../fixtures/printable.ts';
import { quotedText } from '../explain/shell-text.ts';
import { runInBash } from '../testing/test-explanations.ts';
import { quoted } from './shell.ts';

const awkward = [
  '',
  "it's",
  '"$(touch made)"`touch made`',
  '\\',
  "\\'",
  ['$HOME $', '{HOME} !! ~ * ? [a] {a,b}'].join(''),
  'a\nb\r\n\tc',
  '\u001b[2J\u0007',
  '\u202eright to left',
  '\u00e9\u4e2d\u{1f600}',
  '-rf',
  '@file',
  '# no comment',
  "$'\\x41'",
  "\\x41'; touch made; '",
  '\u00a0\ufeff\u200b',
  '\u0001f',
];

/** Returns the arguments that bash parses from the words. */
async function argumentsIn(words: readonly string[], variables = {}): Promise<string[]> {
  const script = words.map((word) => `printf '%s\\0' ${word}`).join('\n');
  const { stdout, stderr } = await runInBash(`${script}\nls -A`, variables);
  expect(stderr).toBe('');
  return stdout.split('\0');
}

describe('a text quoted for bash', () => {
  it('is read by bash as exactly that text', async () => {
    expect(await argumentsIn(awkward.map(quoted))).toEqual([...awkward, '']);
  });

  it('is read as that text, whatever characters it contains', async () => {
    const texts = fc.sample(
      fc.string({
        unit: fc.oneof(
          fc.constantFrom(...'\'"\\$`!{}[]()<>|&;#~*? \n\r\t'),
          fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
        ),
      }),
      { seed: 4, numRuns: 500 },
    );
    const sound = texts.map((text) => text.toString().replaceAll('\0', ''));
    const whole = sound.filter((text) => Buffer.from(text).toString() === text);
    expect(whole.length).toBeGreaterThan(400);
    expect(await argumentsIn(whole.map(quoted))).toEqual([...whole, '']);
  });

  it('is displayed unchanged on one line by a terminal', () => {
    for (const text of awkward) {
      expect(printableText(quoted(text))).toBe(quoted(text));
      expect(quoted(text)).not.toContain('\n');
    }
  });
});

describe('a quoted text with variables', () => {
  it('inserts the values as plain text without any expansion', async () => {
    const value = 'a b*\'"$(touch made)';
    const words = [
      quotedText(['Authorization: Bearer ', { variable: 'VALUE' }]),
      quotedText([{ variable: 'VALUE' }, '/path']),
      quotedText([{ variable: 'VALUE' }, 'letters']),
      quotedText(['{"password":"', { variable: 'VALUE' }, '"} $(x) !']),
      quotedText([]),
    ];
    expect(await argumentsIn(words, { VALUE: value })).toEqual([
      `Authorization: Bearer ${value}`,
      `${value}/path`,
      `${value}letters`,
      `{"password":"${value}"} $(x) !`,
      '',
      '',
    ]);
  });
});
