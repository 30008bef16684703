import { describe, expect, it } from 'vitest';
import { canonicalName, servedNames } from './names.ts';

describe('a name of a certificate', () => {
  it.each([
    ['localhost', 'localhost'],
    ['Update.Example.COM', 'update.example.com'],
    ['*.example.com', '*.example.com'],
    ['my_service', 'my_service'],
    ['xn--gert-loa.example', 'xn--gert-loa.example'],
    ['192.168.1.10', '192.168.1.10'],
    ['FD00:0::0017', 'fd00::17'],
    ['::ffff:10.1.2.3', '::ffff:a01:203'],
    ['fe80::1%eth0', 'fe80::1'],
  ])('%s is written %s', (text, written) => {
    expect(canonicalName(text)).toBe(written);
  });

  it.each([
    '',
    ' ',
    '*',
    'a b',
    'a..b',
    '.a',
    'a.',
    '-a.example',
    'a-.example',
    'a.*.example',
    '*.*.example',
    'https://a.example',
    'a.example:443',
    'a.example/path',
    '[::1]',
    '1.2.3',
    '256.1.1.1',
    '1.2.3.4%a',
    'gerät.example',
    'a\0b',
    'a\n',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(127)}`,
    `${'a.'.repeat(130)}example`,
  ])('%j is none', (text) => {
    expect(canonicalName(text)).toBeUndefined();
  });
});

describe('the names that a server is reached by', () => {
  it('are the chosen ones first, then the loopback and the address listened on, each once', () => {
    expect(servedNames(['A.test', '127.0.0.1', 'a.test'], '192.168.1.10')).toEqual([
      'a.test',
      '127.0.0.1',
      'localhost',
      '::1',
      '192.168.1.10',
    ]);
  });

  it('leave out what is listened on but cannot be called', () => {
    expect(servedNames([], 'not a host')).toEqual(['localhost', '127.0.0.1', '::1']);
  });
});
