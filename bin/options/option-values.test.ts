import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { textRules } from '../../fixtures/base/value-rules.ts';
import * as values from './option-values.ts';

/** Returns the message of a parser for a string that it must refuse. */
function refuses(parse: (text: string) => unknown, texts: readonly string[], accepted: RegExp) {
  for (const text of texts) {
    const attempt = () => parse(text);
    expect(attempt, JSON.stringify(text)).toThrow(InvalidArgumentError);
    expect(attempt, JSON.stringify(text)).toThrow(accepted);
  }
}

describe('the parser of durations', () => {
  it.each([
    ['250ms', 250],
    ['1.5s', 1500],
    ['1.001s', 1001],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
    ['3', 3000],
    ['0', 0],
  ])('accepts %s as %d ms', (text, expected) => {
    expect(values.durationMs(text)).toBe(expected);
  });

  it('refuses text that is not a duration, and lists the units', () => {
    const bad = ['', '-1s', '1 s', '1w', 's', '1e3', '0x10', '1s2', '3651d', 'Infinity', '1,5s'];
    refuses(values.durationMs, bad, /ms, s, m, h or d/);
  });

  it('refuses zero where a duration must be positive', () => {
    expect(values.positiveDurationMs('1ms')).toBe(1);
    refuses(values.positiveDurationMs, ['0', '0ms'], /above zero/);
  });

  it('refuses a duration that is outside a range, or not in whole units', () => {
    const seconds = values.wholeDuration({
      kind: 'whole-duration',
      unit: 's',
      min: 1,
      max: 86_400,
    });
    expect([seconds('1'), seconds('1.1m'), seconds('1d')]).toEqual([1, 66, 86_400]);
    const bad = ['0', '999ms', '1.5s', '25h', '4000d', '', '1w'];
    refuses(seconds, bad, /ms, s, m, h or d .* from 1s to 1d, in whole seconds/);
  });
});

describe('the parsers of numbers', () => {
  it('accept rates per second, whole or fractional', () => {
    expect(['20/s', '0.5', '100'].map(values.ratePerSecond(100))).toEqual([20, 0.5, 100]);
    refuses(
      values.ratePerSecond(100),
      ['', '0', '-1', '101/s', '5/m', '1e2', 's', '/s'],
      /20\/s, at/,
    );
  });

  it('accept only ports from 0 to 65535', () => {
    expect([values.port('0'), values.port('65535')]).toEqual([0, 65_535]);
    refuses(values.port, ['-1', '65536', '80.5', '', 'http', '0x50', ' 80'], /0 .* to 65535/);
  });

  it('accept only counts within their bounds', () => {
    const parse = values.count(1, 10);
    expect([parse('1'), parse('10')]).toEqual([1, 10]);
    refuses(parse, ['0', '11', '1.0', '', 'ten', '99999999999999999999'], /from 1 to 10/);
  });
});

describe('the parser of weights', () => {
  const parse = (text: string) =>
    values.weights(['rsa', 'ecdsa', 'already-installed'])(text, undefined);

  it('accepts several names in one option or in repeated options', () => {
    expect(parse('rsa=1, ecdsa=0.5')).toEqual({ rsa: 1, ecdsa: 0.5 });
    const again = values.weights(['rsa', 'ecdsa'])('ecdsa=2', { rsa: 1 });
    expect(again).toEqual({ rsa: 1, ecdsa: 2 });
  });

  it('accepts a name alone as a weight of 1', () => {
    expect(parse('rsa')).toEqual({ rsa: 1 });
    expect(parse('rsa,ecdsa=3')).toEqual({ rsa: 1, ecdsa: 3 });
  });

  it('refuses unknown names and invalid weights, and lists the valid names', () => {
    const bad = ['dsa=1', 'dsa', 'rsa=', '=1', 'rsa=-1', 'rsa=1,', 'rsa=x', 'rsa=9999999', ''];
    refuses(parse, bad, /rsa, ecdsa, already-installed/);
  });

  it('refuses a repeated name, and weights that are all zero', () => {
    refuses(parse, ['rsa=1,rsa=2', 'rsa=0'], /once.*above zero/);
    expect(() => values.weights(['rsa'])('rsa=2', { rsa: 1 })).toThrow(/once/);
  });

  it('refuses names of properties that every object has', () => {
    refuses(parse, ['constructor=1', '__proto__=1', 'toString=1'], /names rsa/);
  });
});

describe('the parsers of texts', () => {
  it('accept header prefixes that are valid in header names', () => {
    expect(values.headerPrefix('X-MEN')).toBe('X-MEN');
    refuses(values.headerPrefix, ['', 'X-', '-X', 'X--Y', 'X SVC', '1X', 'X-É', 'X:Y'], /X-SVC/);
  });

  it('accept http and https URLs, and remove a slash at the end', () => {
    expect(values.baseUrl('http://127.0.0.1:8080/')).toBe('http://127.0.0.1:8080');
    expect(values.baseUrl('https://staging.example.com/fleet//')).toBe(
      'https://staging.example.com/fleet',
    );
    const bad = ['', 'localhost:8080', 'ftp://h', '//h', 'http://', 'http://h?x=1', 'http://h#x'];
    refuses(
      values.baseUrl,
      [...bad, 'http://user:secret@h', 'http://h:99999'],
      /http:\/\/ or https/,
    );
  });

  it('accept email addresses without colons', () => {
    expect(values.email('admin@example.com')).toBe('admin@example.com');
    refuses(values.email, ['', 'admin', '@example.com', 'a@', 'a:b@c', 'a b@c', 'a@b@c'], /email/);
  });

  it('accept only passwords that the server accepts', () => {
    const password = values.ruleParser(textRules.password);
    expect(password('12345678')).toBe('12345678');
    refuses(password, ['', '1234567'], /at least 8/);
  });

  it('collect report files, at most one for each format', () => {
    const read = values.reportFiles(['json', 'junit', 'html']);
    const first = read('json=out/report.json');
    expect(read('junit=a=b.xml', first)).toEqual({
      json: 'out/report.json',
      junit: 'a=b.xml',
    });
    refuses(
      read,
      ['', 'json', 'json=', 'xml=report.xml', '=x'],
      /json=FILE, junit=FILE and html=FILE/,
    );
    expect(() => read('json=other', first)).toThrow(/each at most once/);
  });

  it('accept a date as midnight UTC, and a time unchanged', () => {
    expect(values.parseTime('2027-08-25')).toBe(Date.UTC(2027, 7, 25));
    expect(values.parseTime('2027-08-25T02:00:00+02:00')).toBe(Date.UTC(2027, 7, 25));
    const bad = ['', '2027', '2027-02-30', '2027-13-01', '25.08.2027', '2027-08-25T00:00:00'];
    refuses(values.parseTime, [...bad, 'tomorrow', '1819152000'], /2027-08-25/);
  });

  it('collect each name of a list once', () => {
    const parse = values.namesFrom(['one', 'two', 'three']);
    expect(parse('two,one', undefined)).toEqual(['two', 'one']);
    expect(parse('one, three', ['two', 'one'])).toEqual(['two', 'one', 'three']);
    const bad = ['', 'four', 'one,', 'One', 'one;two', '__proto__', 'toString'];
    refuses((text) => parse(text, undefined), bad, /one, two, three/);
  });

  it('refuse an empty string and a string of spaces', () => {
    refuses(values.nonEmptyText, ['', '  '], /not empty/);
  });
});
