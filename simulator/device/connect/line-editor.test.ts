import { describe, expect, it } from 'vitest';
import { type EditorResult, LineEditor } from './line-editor.ts';

const echo = (text: string): EditorResult => ({ kind: 'echo', text });
const line = (text: string): EditorResult => ({ kind: 'line', text });

function typed(...keys: readonly (string | Buffer)[]): EditorResult[] {
  const editor = new LineEditor();
  return keys.flatMap((each) => editor.type(Buffer.from(each)));
}

describe('the line editor of a terminal', () => {
  it('echoes typed text, and returns the line at its end', () => {
    expect(typed('ls\r')).toEqual([echo('l'), echo('s'), line('ls')]);
  });

  it.each(['\r', '\n', '\r\n'])('ends the line once at %j', (end) => {
    const lines = typed(`a${end}b${end}`).filter(({ kind }) => kind === 'line');
    expect(lines).toEqual([line('a'), line('b')]);
  });

  it('ends the line once when its line end arrives in two pieces', () => {
    expect(typed('a\r', '\nb\r')).toEqual([echo('a'), line('a'), echo('b'), line('b')]);
  });

  it.each(['\b', '\x7f'])('deletes the last character at %j, and nothing earlier', (key) => {
    expect(typed(`a${key}${key}b\r`)).toEqual([echo('a'), echo('\b \b'), echo('b'), line('b')]);
  });

  it('deletes whole characters, not bytes', () => {
    expect(typed('🙂\x7f\r').at(-1)).toEqual(line(''));
  });

  it('joins characters that arrive in several pieces', () => {
    const bytes = Buffer.from('é');
    expect(typed(bytes.subarray(0, 1), bytes.subarray(1), '\r')).toEqual([echo('é'), line('é')]);
  });

  it('drops the line at Ctrl-U and at Ctrl-C', () => {
    expect(typed('ab\x15c\r')).toEqual([
      echo('a'),
      echo('b'),
      echo('\b \b\b \b'),
      echo('c'),
      line('c'),
    ]);
    expect(typed('ab\x03c\r').slice(2)).toEqual([{ kind: 'interrupt' }, echo('c'), line('c')]);
  });

  it('ends the terminal at Ctrl-D only when the line is empty', () => {
    expect(typed('\x04')).toEqual([{ kind: 'end' }]);
    expect(typed('a\x04')).toEqual([echo('a')]);
  });

  it.each(['\x1b[A', '\x1b[1;5C', '\x1bOP', '\x1bb', '\t', '\x00', '\x07'])(
    'ignores the key %j',
    (key) => {
      expect(typed(`a${key}b\r`)).toEqual([echo('a'), echo('b'), line('ab')]);
    },
  );

  it('ignores an unsupported key that arrives in pieces', () => {
    expect(typed('\x1b', '[', 'A', 'x\r')).toEqual([echo('x'), line('x')]);
  });

  it('rings the bell at text that does not fit, and keeps the rest', () => {
    const all = typed('x'.repeat(4097), '\r');
    expect(all.at(-2)).toEqual(echo('\x07'));
    expect(all.at(-1)).toEqual(line('x'.repeat(4096)));
  });
});
