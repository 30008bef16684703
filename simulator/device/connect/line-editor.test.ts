import { describe, expect, it } from 'vitest';
import { LineEditor, type Typed } from './line-editor.ts';

const echo = (text: string): Typed => ({ kind: 'echo', text });
const line = (text: string): Typed => ({ kind: 'line', text });

function typed(...keys: readonly (string | Buffer)[]): Typed[] {
  const editor = new LineEditor();
  return keys.flatMap((each) => editor.type(Buffer.from(each)));
}

describe('the line of a terminal', () => {
  it('shows what is typed, and is whole at the end of the line', () => {
    expect(typed('ls\r')).toEqual([echo('l'), echo('s'), line('ls')]);
  });

  it.each(['\r', '\n', '\r\n'])('ends once at %j', (end) => {
    const lines = typed(`a${end}b${end}`).filter(({ kind }) => kind === 'line');
    expect(lines).toEqual([line('a'), line('b')]);
  });

  it('ends once when the two halves of its end come apart', () => {
    expect(typed('a\r', '\nb\r')).toEqual([echo('a'), line('a'), echo('b'), line('b')]);
  });

  it.each(['\b', '\x7f'])('takes the last character back at %j, and nothing before it', (key) => {
    expect(typed(`a${key}${key}b\r`)).toEqual([echo('a'), echo('\b \b'), echo('b'), line('b')]);
  });

  it('takes back whole characters, not bytes', () => {
    expect(typed('🙂\x7f\r').at(-1)).toEqual(line(''));
  });

  it('puts characters together that come in halves', () => {
    const bytes = Buffer.from('é');
    expect(typed(bytes.subarray(0, 1), bytes.subarray(1), '\r')).toEqual([echo('é'), line('é')]);
  });

  it('drops everything at Ctrl-U, and at Ctrl-C', () => {
    expect(typed('ab\x15c\r')).toEqual([
      echo('a'),
      echo('b'),
      echo('\b \b\b \b'),
      echo('c'),
      line('c'),
    ]);
    expect(typed('ab\x03c\r').slice(2)).toEqual([{ kind: 'interrupt' }, echo('c'), line('c')]);
  });

  it('ends the terminal at Ctrl-D only when it is empty', () => {
    expect(typed('\x04')).toEqual([{ kind: 'end' }]);
    expect(typed('a\x04')).toEqual([echo('a')]);
  });

  it.each(['\x1b[A', '\x1b[1;5C', '\x1bOP', '\x1bb', '\t', '\x00', '\x07'])(
    'takes no notice of the key %j',
    (key) => {
      expect(typed(`a${key}b\r`)).toEqual([echo('a'), echo('b'), line('ab')]);
    },
  );

  it('takes no notice of a key that comes in pieces', () => {
    expect(typed('\x1b', '[', 'A', 'x\r')).toEqual([echo('x'), line('x')]);
  });

  it('rings at what does not fit, and keeps the rest', () => {
    const all = typed('x'.repeat(4097), '\r');
    expect(all.at(-2)).toEqual(echo('\x07'));
    expect(all.at(-1)).toEqual(line('x'.repeat(4096)));
  });
});
