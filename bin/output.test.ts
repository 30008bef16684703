import { describe, expect, it } from 'vitest';
import { clean, createOutput } from './output.ts';

function recorded(json: boolean) {
  const written = { stdout: '', stderr: '' };
  const output = createOutput(json, {
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
  });
  return { output, written };
}

describe('output', () => {
  it('gives JSON alone to standard output in JSON mode', () => {
    const { output, written } = recorded(true);
    output.line('for people');
    output.progress('going on');
    output.data({ verdict: 'pass' });
    expect(written.stdout).toBe('{"verdict":"pass"}\n');
    expect(written.stderr).toBe('for people\ngoing on\n');
  });

  it('gives no JSON but the result to standard output otherwise', () => {
    const { output, written } = recorded(false);
    output.data({ verdict: 'pass' });
    output.progress('going on');
    output.line('for people');
    expect(written).toEqual({ stdout: 'for people\n', stderr: 'going on\n' });
  });
});

describe('text from outside', () => {
  it.each([
    [
      'colours and cursor moves',
      'a\x1b[31mb\x1b]0;title\x07',
      'a\\u{1b}[31mb\\u{1b}]0;title\\u{7}',
    ],
    ['one-byte control sequences', 'a\x9b2J', 'a\\u{9b}2J'],
    ['carriage returns', 'good\rbad', 'good\\u{d}bad'],
    ['turned writing', 'a\u202egpj.exe', 'a\\u{202e}gpj.exe'],
    ['lone surrogates', 'a\ud800b', 'a\\u{d800}b'],
  ])('cannot steer the terminal by %s', (_, text, shown) => {
    expect(clean(text)).toBe(shown);
  });

  it('keeps lines, tabs and every script', () => {
    const text = 'één\tзвук 機器 👩‍💻\nnext';
    expect(clean(text)).toBe(text);
  });
});
