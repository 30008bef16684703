import { describe, expect, it } from 'vitest';
import { createOutput } from './output.ts';

function recordOutput(json: boolean) {
  const written = { stdout: '', stderr: '' };
  const output = createOutput(json, {
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
  });
  return { output, written };
}

describe('the output of a command', () => {
  it('is only JSON on standard output in JSON mode', () => {
    const { output, written } = recordOutput(true);
    output.line('for people');
    output.progress('going on');
    output.data({ verdict: 'pass' });
    expect(written.stdout).toBe('{"verdict":"pass"}\n');
    expect(written.stderr).toBe('for people\ngoing on\n');
  });

  it('is JSON without control characters and with the same meaning', () => {
    const { output, written } = recordOutput(true);
    const text = 'a\x1b\x7f\x9b2J\u0085\u2028\u202e\u2066\ud800b\u{e0041}\ufeff機 😀 ü';
    output.data({ [text]: text });
    const [line = ''] = written.stdout.split('\n');
    expect(line).toMatch(/^[^\p{C}\u2028\u2029]+$/u);
    expect(line).toContain('機 😀 ü');
    expect(JSON.parse(line)).toEqual({ [text]: text });
  });

  it('is the result without JSON on standard output by default', () => {
    const { output, written } = recordOutput(false);
    output.data({ verdict: 'pass' });
    output.progress('going on');
    output.line('for people');
    expect(written).toEqual({ stdout: 'for people\n', stderr: 'going on\n' });
  });

  it('contains no unescaped control characters of other programs', () => {
    const { output, written } = recordOutput(false);
    output.line('a\x1b[31mb\nnext');
    output.progress('good\rbad');
    expect(written).toEqual({ stdout: 'a\\u{1b}[31mb\nnext\n', stderr: 'good\\u{d}bad\n' });
  });
});
