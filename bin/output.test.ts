import { describe, expect, it } from 'vitest';
import { createOutput } from './output.ts';

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

  it('never steers the terminal by text from outside', () => {
    const { output, written } = recorded(false);
    output.line('a\x1b[31mb\nnext');
    output.progress('good\rbad');
    expect(written).toEqual({ stdout: 'a\\u{1b}[31mb\nnext\n', stderr: 'good\\u{d}bad\n' });
  });
});
