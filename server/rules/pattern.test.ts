import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/random.ts';
import { compilePattern, PatternExhausted, StepBudget } from './pattern.ts';
import { PatternFault } from './pattern-syntax.ts';

function isIn(pattern: string, text: string): boolean {
  return compilePattern(pattern).isIn(text);
}

describe('a pattern', () => {
  it.each([
    ['', '', true],
    ['', 'x', true],
    ['b', 'abc', true],
    ['d', 'abc', false],
    ['^b', 'abc', false],
    ['^abc$', 'abc', true],
    ['^abc$', 'abcd', false],
    ['a.c', 'abc', true],
    ['a.c', 'a\nc', false],
    ['a|b|', 'x', true],
    ['^(?:a|bc)+$', 'abcbca', true],
    ['^(a|bc)+$', 'abcb', false],
    ['^[a-c_-]*$', 'a-b_c', true],
    ['^[^a-c]+$', 'xaz', false],
    ['^[]x]+$', ']x', true],
    ['^\\d{2,3}$', '1', false],
    ['^\\d{2,3}$', '123', true],
    ['^\\d{2,3}$', '1234', false],
    ['^x{2}$', 'xx', true],
    ['^x{2,}$', 'xxxxx', true],
    ['^x{0}$', 'x', false],
    ['x{,2}', 'x{,2}', true],
    ['^\\w+\\s\\S+\\W$', 'ab_1 é!', true],
    ['1\\.2\\$', '1.2$', true],
    ['1\\.2', '1x2', false],
    ['^.$', '😀', true],
    ['(?i)^Ünit-[A-C]$', 'üNIT-b', true],
    ['^Unit$', 'unit', false],
    ['^(a*)*$', 'aaab', false],
    ['a+?b??$', 'aab', true],
    ['a^b', 'ab', false],
  ])('%j is to be found in %j: %s', (pattern, text, expected) => {
    expect(isIn(pattern, text)).toBe(expected);
  });

  it('finds what the engine of the language finds, whatever it is made of', () => {
    const random = seededRandom('patterns');
    for (let round = 0; round < 3000; round += 1) {
      const source = randomPattern(3);
      const pattern = compilePattern(source);
      const engine = new RegExp(source, 'u');
      for (let texts = 0; texts < 5; texts += 1) {
        const text = Array.from({ length: random.integer(0, 8) }, () => pick('abc1 ')).join('');
        expect([source, text, pattern.isIn(text)]).toEqual([source, text, engine.test(text)]);
      }
    }

    function pick(choices: string): string {
      return choices[random.integer(0, choices.length - 1)] ?? '';
    }

    function randomPattern(depth: number): string {
      const kind = depth === 0 ? 0 : random.integer(0, 5);
      const inner = () => randomPattern(depth - 1);
      if (kind === 1) return inner() + inner();
      if (kind === 2) return `(${inner()}|${inner()})`;
      if (kind === 3) return `(?:${inner()})${pick('*+?')}`;
      if (kind === 4) return `(${inner()}){${random.integer(0, 2)},${random.integer(2, 4)}}`;
      if (kind === 5) return `${pick('^$')}${inner()}`;
      return ['a', 'b', '.', '[ab]', '[^a]', '\\d', '\\s', '\\W'][random.integer(0, 7)] ?? '';
    }
  });
});

describe('a pattern that other engines take years for', () => {
  const text = `${'a'.repeat(20_000)}!`;

  it.each(['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '^(.*a){20}$', '^(a*)*b$', 'a*a*a*a*a*c'])(
    '%s is decided within its steps',
    (pattern) => {
      expect(isIn(pattern, text)).toBe(false);
    },
  );

  it('is given up when the texts together are too long for it', () => {
    const pattern = compilePattern('^(a|b|c)*$', new StepBudget(1000));
    expect(pattern.isIn('abc')).toBe(true);
    expect(() => {
      for (let times = 0; times < 1000; times += 1) pattern.isIn('abcabc');
    }).toThrow(PatternExhausted);
  });
});

describe('a text that is no pattern that is taken', () => {
  it.each([
    ['(', '"("'],
    ['(a', '"("'],
    [')', '")"'],
    ['a)b', '")"'],
    ['[', 'ends too early'],
    ['[a', '"["'],
    ['[b-a]', 'no valid range'],
    ['[a-\\d]', 'no valid range'],
    ['*', '"*"'],
    ['a|+', '"+"'],
    ['a**', 'repetition'],
    ['a{2}{3}', 'repetition'],
    ['a{3,2}', 'maximum is below its minimum'],
    ['a{1001}', '1000'],
    ['a{0,9999}', '1000'],
    ['(ab){1000}', 'too large'],
    ['(((a{9}){9}){9}){9}', 'too large'],
    ['\\', 'ends too early'],
    ['\\1', '\\1'],
    ['\\bword', '\\b'],
    ['\\u0041', '\\u'],
    ['(?=a)', '(?'],
    ['(?<!a)b', '(?'],
    ['(?<name>a)', '(?'],
    ['a(?i)b', '(?'],
  ])('%s is refused with its reason: %s', (source, because) => {
    expect(() => compilePattern(source)).toThrow(PatternFault);
    expect(() => compilePattern(source)).toThrow(because);
  });

  it('may be nested as deep as a pattern is long', () => {
    expect(isIn(`${'('.repeat(200)}a${')'.repeat(200)}`, 'a')).toBe(true);
  });
});
