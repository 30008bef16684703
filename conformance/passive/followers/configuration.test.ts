import { describe, expect, it } from 'vitest';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { type Act, CaseHistory } from '../case-history.ts';
import { JudgedExchange } from '../judged-exchange.ts';
import { followConfiguration } from './configuration.ts';

const rows = {
  'post-auth-request': operations['post-auth-request'],
  'put-configuration': operations['put-configuration'],
  'get-configuration': operations['get-configuration'],
  'set-configuration': managementOperations['set-configuration'],
} as const satisfies Readonly<Record<string, Operation>>;

interface Invented {
  readonly sent?: unknown;
  readonly received?: unknown;
  readonly status?: number;
  readonly outcome?: Act['outcome'];
  readonly token?: string;
}

/** Returns a request that was under way between two times. */
function act(
  operation: keyof typeof rows,
  [sentMs, endedMs]: readonly [number, number],
  { sent, received, status = 200, outcome = 'done', token = 'token-a' }: Invented = {},
): Act {
  const row = rows[operation];
  const body = JSON.stringify(sent ?? null);
  const text = typeof received === 'string' ? received : JSON.stringify(received ?? null);
  const exchange = new JudgedExchange(
    row,
    {
      url: `http://localhost${row.path}`,
      headers: { authorization: `Bearer ${token}` },
      body,
      bodyBytes: body.length,
      isChunked: false,
      sentMs,
      endedMs,
    },
    {
      answer: { status, headers: {}, bytes: Buffer.from(text), text },
      requestIdHeader: 'x-svc-requestid',
    },
  );
  const request = { line: `${row.method} ${row.path}`, headers: {} };
  const record = { startMs: sentMs, elapsedMs: endedMs - sentMs, request };
  return { operation, exchange, outcome, path: {}, record };
}

const granted = [
  act('post-auth-request', [0, 1], { sent: { id_data: '{"mac":"a"}' }, received: 'token-a' }),
  act('post-auth-request', [0, 1], { sent: { id_data: '{"mac":"b"}' }, received: 'token-b' }),
];

function violations(acts: readonly Act[], seesUsers = true): readonly string[] {
  const found = followConfiguration(new CaseHistory([...granted, ...acts], seesUsers));
  return found.map(({ where, must, seen }) => `${where} must ${must}, not ${seen}`);
}

function write(times: readonly [number, number], sent: unknown, more: Invented = {}): Act {
  return act('put-configuration', times, { sent, status: 204, ...more });
}

function read(times: readonly [number, number], received: unknown, more: Invented = {}): Act {
  return act('get-configuration', times, { received, ...more });
}

describe('a configuration that a device reads', () => {
  it('may be what it wrote last', () => {
    expect(
      violations([
        write([2, 3], { a: '1', b: '2' }),
        write([4, 5], { a: '', b: '3' }),
        read([6, 7], { b: '3' }),
      ]),
    ).toEqual([]);
  });

  it.each<[string, readonly Act[], string]>([
    [
      'an older value',
      [write([2, 3], { a: '1' }), write([4, 5], { a: '2' }), read([5, 6], { a: '1' })],
      'be 2, not 1',
    ],
    [
      'a key that was removed',
      [write([2, 3], { a: '1' }), write([4, 5], { a: '' }), read([6, 7], { a: '1' })],
      'be absent, not 1',
    ],
    [
      'no value although a write of another key followed',
      [write([2, 3], { a: '1' }), write([4, 5], { b: '1' }), read([6, 7], { b: '1' })],
      'be 1, not absent',
    ],
    [
      'the value of a refused write',
      [
        write([2, 3], { a: '1' }),
        write([4, 5], { a: '2' }, { status: 400, outcome: 'refused' }),
        read([6, 7], { a: '2' }),
      ],
      'be 1, not 2',
    ],
    [
      'the value of another device',
      [
        write([2, 3], { a: '1' }),
        write([4, 5], { a: '2' }, { token: 'token-b' }),
        read([6, 7], { a: '2' }),
      ],
      'be 1, not 2',
    ],
    [
      'neither value of two writes at once',
      [
        write([2, 3], { a: '0' }),
        write([4, 7], { a: '1' }),
        write([5, 8], { a: '2' }),
        read([9, 10], { a: '0' }),
      ],
      'be 1 or 2, not 0',
    ],
  ])('must not be %s', (_, acts, sentence) => {
    expect(violations(acts)).toEqual([`200 body: /a must ${sentence}`]);
  });

  it.each<[string, readonly Act[]]>([
    [
      'a write that overlaps the read',
      [write([2, 3], { a: '1' }), write([4, 9], { a: '2' }), read([5, 6], { a: '1' })],
    ],
    [
      'a write without an answer',
      [
        write([2, 3], { a: '1' }),
        write([4, 5], { a: '2' }, { status: 0, outcome: 'unknown' }),
        read([6, 7], { a: '2' }),
      ],
    ],
    ['a refusal to read', [write([2, 3], { a: '1' }), read([4, 5], {}, { status: 429 })]],
    [
      'a user who configured the device',
      [
        write([2, 3], { a: '1' }),
        act('set-configuration', [4, 5], { sent: { a: '2' }, status: 204 }),
        read([6, 7], { a: '2' }),
      ],
    ],
    [
      'a token that was not seen granted',
      [write([2, 3], { a: '1' }), read([4, 5], {}, { token: 'unseen' })],
    ],
  ])('is not judged after %s', (_, acts) => {
    expect(violations(acts)).toEqual([]);
  });

  it('is not judged if users act by hooks, which are no exchanges', () => {
    expect(violations([write([2, 3], { a: '1' }), read([4, 5], {})], false)).toEqual([]);
  });
});
