import { describe, expect, it } from 'vitest';
import { CommandSyntaxError, parseCommandLine } from './command-line.ts';

const variables: Readonly<Record<string, string>> = { HOME: '/root', '?': '3', A_1: 'a b' };
const parse = (line: string) => parseCommandLine(line, (name) => variables[name] ?? '');

describe('a command line of the shell', () => {
  it.each([
    ['', []],
    ['   ', []],
    ['# a note', []],
    ['ls', ['ls']],
    ['  ls   -l\t/etc ', ['ls', '-l', '/etc']],
    ['echo \'a  b\' "c  d"', ['echo', 'a  b', 'c  d']],
    ['echo a\'b\'"c"d', ['echo', 'abcd']],
    ["echo ''", ['echo', '']],
    ['echo a\\ b \\> \\$HOME', ['echo', 'a b', '>', '$HOME']],
    ['echo "a\\"b\\n"', ['echo', 'a"b\\n']],
    ['echo \'$HOME\' "$HOME" $HOME', ['echo', '$HOME', '/root', '/root']],
    ['echo \x24{HOME}s $?', ['echo', '/roots', '3']],
    ['echo $A_1', ['echo', 'a b']],
    ['echo $NONE.', ['echo', '.']],
    ['echo $ $1 "$"', ['echo', '$', '$1', '$']],
    ['echo a#b # c', ['echo', 'a#b']],
    ['echo größe 🙂', ['echo', 'größe', '🙂']],
    ['echo "|;&<>()"', ['echo', '|;&<>()']],
  ])('is parsed from %j to %j', (line, args) => {
    expect(parse(line)).toEqual({ args });
  });

  it.each([
    ['echo a > f', { path: 'f', appends: false }],
    ['echo a >> f', { path: 'f', appends: true }],
    ['echo a>f', { path: 'f', appends: false }],
    ['>f echo a', { path: 'f', appends: false }],
    ['echo a > "a b"', { path: 'a b', appends: false }],
    ['echo a > x > f', { path: 'f', appends: false }],
  ])('redirects its output: %j', (line, redirection) => {
    expect(parse(line)).toEqual({ args: ['echo', 'a'], redirection });
  });

  it.each([
    ['ls | cat', '"|" unexpected'],
    ['ls; ls', '";" unexpected'],
    ['ls && ls', '"&" unexpected'],
    ['cat < f', '"<" unexpected'],
    ['echo `ls`', '"`" unexpected'],
    ['(ls)', '"(" unexpected'],
    ['ls >', '"newline" unexpected'],
    ['ls >>> f', '">" unexpected'],
    ["echo 'a", 'unterminated quoted string'],
    ['echo "a', 'unterminated quoted string'],
  ])('is refused: %j', (line, message) => {
    expect(() => parse(line)).toThrow(CommandSyntaxError);
    expect(() => parse(line)).toThrow(message);
  });
});
