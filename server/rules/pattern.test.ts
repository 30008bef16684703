import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/base/random.ts';
import { compilePattern, PatternError, StepBudget } from './pattern.ts';

function isIn(pattern: string, text: string): boolean {
  return compilePattern(pattern).isIn(text);
}

describe('a search pattern', () => {
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
    ['x(?i)unit', 'xUNIT', true],
    ['(?<name>a)', 'a', true],
    ['\\bword\\b', 'a word', true],
    ['\\bword\\b', 'swords', false],
    ['b', 'a\u0000b', true],
    ['^.b$', '\ud800b', true],
  ])('is found as %j in %j: %s', (pattern, text, expected) => {
    expect(isIn(pattern, text)).toBe(expected);
  });

  it("matches like the language's own engine for random patterns", () => {
    const random = seededRandom('patterns');
    for (let round = 0; round < 3000; round += 1) {
      const source = randomPattern(3);
      const pattern = compilePattern(source);
      const engine = new RegExp(source, 'u');
      for (let texts = 0; texts < 5; texts += 1) {
        const text = Array.from({ length: random.integer(0, 8) }, () =>
          random.pick(['a', 'b', 'c', '1', ' ']),
        ).join('');
        expect([source, text, pattern.isIn(text)]).toEqual([source, text, engine.test(text)]);
      }
    }

    function randomPattern(depth: number): string {
      const kind = depth === 0 ? 0 : random.integer(0, 5);
      const inner = () => randomPattern(depth - 1);
      if (kind === 1) return inner() + inner();
      if (kind === 2) return `(${inner()}|${inner()})`;
      if (kind === 3) return `(?:${inner()})${random.pick(['*', '+', '?'])}`;
      if (kind === 4) return `(${inner()}){${random.integer(0, 2)},${random.integer(2, 4)}}`;
      if (kind === 5) return `${random.pick(['^', '$'])}${inner()}`;
      return random.pick(['a', 'b', '.', '[ab]', '[^a]', '\\d', '\\s', '\\W']);
    }
  });
});

describe('a pattern with exponential backtracking', () => {
  const text = `${'a'.repeat(20_000)}!`;

  it.each(['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '^(.*a){20}$', '^(a*)*b$', 'a*a*a*a*a*c'])(
    'is decided within its step budget: %s',
    (pattern) => {
      expect(isIn(pattern, text)).toBe(false);
    },
  );

  it('fails when the texts together exceed the budget', () => {
    const pattern = compilePattern('^(a|b|c)*$', new StepBudget(10_000));
    expect(pattern.isIn('abc')).toBe(true);
    expect(() => {
      for (let times = 0; times < 1000; times += 1) pattern.isIn('abcabc');
    }).toThrow('takes too long to match');
  });

  it('fails when the patterns together exceed the budget', () => {
    const budget = new StepBudget();
    const compileAll = () => {
      for (let times = 0; times < 100; times += 1) compilePattern('x{1000}[ab]{900}', budget);
    };
    expect(compileAll).toThrow('takes too long to match');
  });

  it('fails when a single text exceeds the budget', () => {
    const pattern = compilePattern('(a|b)*a(a|b){400}[cd]$');
    expect(pattern.isIn(text.slice(0, 1000))).toBe(false);
    expect(() => pattern.isIn(text)).toThrow('takes too long to match');
  });
});

describe('a string given as a search pattern', () => {
  it.each([
    ['(', 'missing closing ): ('],
    ['(a', 'missing closing ): (a'],
    [')', 'unexpected )'],
    ['a)b', 'unexpected ): a)b'],
    ['[', 'missing closing ]'],
    ['[a', 'missing closing ]: [a'],
    ['[b-a]', 'invalid character class range: b-a'],
    ['[a-\\d]', 'invalid escape sequence: \\d'],
    ['*', 'missing argument to repetition operator: *'],
    ['a|+', 'missing argument to repetition operator: +'],
    ['a**', 'invalid nested repetition operator: **'],
    ['a{2}{3}', 'invalid nested repetition operator: {2}{3}'],
    ['a{3,2}', 'invalid repeat count: {3,2}'],
    ['a{1001}', 'invalid repeat count: {1001}'],
    ['a{0,9999}', 'invalid repeat count: {0,9999}'],
    ['(ab){1000}', 'too large'],
    ['(((a{9}){9}){9}){9}', 'invalid repeat count'],
    ['\\', 'trailing backslash'],
    ['\\1', 'invalid escape sequence: \\1'],
    ['\\u0041', 'invalid escape sequence: \\u'],
    ['(?=a)', 'unsupported Perl syntax: (?='],
    ['(?<!a)b', '(?<!a)b'],
    ['(?<=a)b', '(?<=a)b'],
  ])('is refused for %s with the reason: %s', (source, reason) => {
    expect(() => compilePattern(source)).toThrow(PatternError);
    expect(() => compilePattern(source)).toThrow(reason);
    expect(() => compilePattern(source)).toThrow(/^is (not valid RE2 syntax: |too large when)/);
  });

  it('is valid with parentheses nested up to the length limit', () => {
    expect(isIn(`${'('.repeat(200)}a${')'.repeat(200)}`, 'a')).toBe(true);
  });
});
