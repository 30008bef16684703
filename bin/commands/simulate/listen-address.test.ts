import { describe, expect, it } from 'vitest';
import { parserOf } from '../../options/option-rows.ts';
import { listenAddress, listenAddressFormat } from './listen-address.ts';

describe('an address to listen at', () => {
  it.each([
    ['9464', '127.0.0.1', 9464],
    ['0', '127.0.0.1', 0],
    ['0.0.0.0:9464', '0.0.0.0', 9464],
    ['localhost:1', 'localhost', 1],
    ['[::1]:65535', '::1', 65_535],
  ])('is read from %s', (text, address, port) => {
    expect(listenAddress(text)).toEqual({ address, port });
  });

  it.each([
    '',
    'x',
    ':9464',
    '65536',
    '-1',
    '1.2.3:80',
    '::1:80',
    '[127.0.0.1]:80',
    'host.example:80',
    '127.0.0.1:',
    'http://127.0.0.1:80',
  ])('is not read from %j', (text) => {
    const parse = parserOf({ kind: 'read', read: listenAddress, accepted: listenAddressFormat });
    expect(() => parse?.(text, undefined as never)).toThrow('Accepted: a port');
  });
});
