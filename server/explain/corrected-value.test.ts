import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { mountedOperations } from '../pipeline/endpoint.ts';
import { exampleOf } from '../testing/example.ts';
import { correctedValue } from './corrected-value.ts';
import { jsonWithVariables, readable } from './text.ts';

const rows: readonly Operation[] = Object.values(mountedOperations);
const bodies = rows.flatMap(({ id, body }) => (body ? [{ id, schema: body }] : []));

function bodyOf(id: keyof typeof mountedOperations): v.GenericSchema {
  return mountedOperations[id]?.body ?? v.never();
}

/** Returns the corrected value as a reader sees it, with `$NAME` for each value to be filled in. */
function correct(schema: v.GenericSchema, given: unknown) {
  const better = correctedValue(schema, given);
  const text = better && readable(jsonWithVariables(better.value));
  return { text, needs: better?.needs };
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value ? Object.values(value).flatMap(textsIn) : [];
}

describe('the corrected value of a body', () => {
  it.each<[string, keyof typeof mountedOperations, unknown, unknown]>([
    ['a typing error', 'put-deployment-status', { status: 'instaling' }, { status: 'installing' }],
    ['capital letters', 'put-deployment-status', { status: 'SUCCESS' }, { status: 'success' }],
    ['a number', 'put-configuration', { speed: 9600 }, { speed: '9600' }],
    ['a boolean', 'put-configuration', { on: true }, { on: 'true' }],
    ['a list of pairs for a map', 'put-configuration', [{ key: 'a', value: '1' }], { a: '1' }],
    ['a map in a wrapper', 'put-configuration', { configuration: { a: '1' } }, { a: '1' }],
    [
      'a member that is nearly named',
      'put-attributes',
      [{ name: 'a', val: 1 }],
      [{ name: 'a', value: 1 }],
    ],
    ['one for a list', 'put-attributes', { name: 'a', value: 1 }, [{ name: 'a', value: 1 }]],
    ['a map for a list of pairs', 'put-attributes', { mem: 1 }, [{ name: 'mem', value: 1 }]],
    [
      'a time in seconds',
      'put-deployment-log',
      { messages: [{ timestamp: 1790000000, level: 'info', message: 'm' }] },
      { messages: [{ timestamp: '2026-09-21T14:13:20.000Z', level: 'info', message: 'm' }] },
    ],
    ['a string alone', 'put-deployment-status', 'success', { status: 'success' }],
    [
      'an object in a list',
      'put-deployment-status',
      [{ status: 'success' }],
      { status: 'success' },
    ],
    ['a list in an object', 'add-group-devices', { devices: ['a'] }, ['a']],
    [
      'a list that belongs into an object',
      'put-deployment-log',
      [{ timestamp: '2026-11-26T08:00:00Z', level: 'info', message: 'm' }],
      { messages: [{ timestamp: '2026-11-26T08:00:00Z', level: 'info', message: 'm' }] },
    ],
    [
      'an identity as an object',
      'post-auth-request',
      { id_data: { mac: '02:00:00:00:00:01' }, pubkey: 'a key' },
      { id_data: '{"mac":"02:00:00:00:00:01"}', pubkey: 'a key' },
    ],
    [
      'an identity as text',
      'preauthorize-device',
      { identity_data: '{"mac":"02"}', pubkey: 'a key' },
      { identity_data: { mac: '02' }, pubkey: 'a key' },
    ],
    [
      'a name in other letters',
      'post-auth-request',
      { idData: '{"a":"b"}', Pubkey: 'a key' },
      { id_data: '{"a":"b"}', pubkey: 'a key' },
    ],
    [
      'a time with a blank',
      'put-deployment-log',
      { messages: [{ timestamp: '2026-11-26 08:00:00+01:00', level: 'info', message: 'm' }] },
      { messages: [{ timestamp: '2026-11-26T07:00:00.000Z', level: 'info', message: 'm' }] },
    ],
  ])('has the sent content in the right type and format: %s', (_, id, given, expected) => {
    expect(correctedValue(bodyOf(id), given)).toEqual({ value: expected, needs: {} });
  });

  it.each<[string, keyof typeof mountedOperations, unknown, string, object]>([
    [
      'an invalid word',
      'put-deployment-status',
      { status: 'failed' },
      '{"status":"$VALUE_STATUS"}',
      { VALUE_STATUS: expect.stringMatching(/^one of .*\bfailure\b/) },
    ],
    [
      'the opposite of a word',
      'set-auth-set-status',
      { status: 'unaccepted' },
      '{"status":"$VALUE_STATUS"}',
      { VALUE_STATUS: expect.stringMatching(/^one of /) },
    ],
    [
      'what is missing',
      'create-user',
      { roles: ['r'] },
      '{"roles":["r"],"email":"$USER_EMAIL"}',
      {},
    ],
    ...['2026-02-30T08:00:00Z', '2026-11-26 08:00:00', 'yesterday'].map(
      (timestamp): [string, keyof typeof mountedOperations, unknown, string, object] => [
        `the time ${timestamp}`,
        'put-deployment-log',
        { messages: [{ timestamp, level: 'info', message: 'm' }] },
        '{"messages":[{"timestamp":"$VALUE_TIMESTAMP_0","level":"info","message":"m"}]}',
        { VALUE_TIMESTAMP_0: expect.stringMatching(/RFC 3339/) },
      ],
    ),
    [
      'a word that means something else',
      'put-deployment-status',
      { status: 'installed' },
      '{"status":"$VALUE_STATUS"}',
      {},
    ],
    [
      'texts in the place of objects',
      'put-deployment-log',
      { messages: ['text'] },
      '{"messages":[$VALUE_MESSAGES_0]}',
      { VALUE_MESSAGES_0: 'an object with timestamp, level, message, as JSON' },
    ],
    [
      'a key, whose name may be that of a variable of bash',
      'put-configuration',
      { hostname: null },
      '{"hostname":"$VALUE_HOSTNAME"}',
      {},
    ],
    [
      'what may be of several kinds',
      'patch-attributes',
      [{ name: 'kernel' }],
      '[{"name":"kernel","value":$VALUE_0}]',
      { VALUE_0: expect.stringMatching(/as JSON$/) },
    ],
    [
      'what is not a string',
      'create-deployment',
      { name: 'n', artifact_name: 'a', all_devices: true, phases: [{ batch_size: 'most' }] },
      '{"name":"n","artifact_name":"a","all_devices":true,"phases":[{"batch_size":$VALUE_BATCH_SIZE_0}]}',
      { VALUE_BATCH_SIZE_0: expect.stringMatching(/as JSON$/) },
    ],
  ])('asks the reader for unknown values: %s', (_, id, given, text, needs) => {
    expect(correct(bodyOf(id), given)).toEqual({ text, needs: expect.objectContaining(needs) });
  });

  it('keeps valid members beside the invalid ones', () => {
    const right = { timestamp: '2026-01-31T12:00:00Z', level: 'warn', message: 'own words' };
    const given = { messages: [right, { ...right, timestamp: 'yesterday', message: 7 }] };
    expect(correctedValue(bodyOf('put-deployment-log'), given)?.value).toMatchObject({
      messages: [right, { level: 'warn', message: '7' }],
    });
  });

  it.each<[keyof typeof mountedOperations, unknown]>([
    ['put-attributes', [['ip', 'x']]],
    ['put-attributes', { attributes: [] }],
    ['put-configuration', { '': 'x' }],
    ['put-configuration', null],
    ['put-configuration', [{ key: 'tz', value: 'UTC' }]],
    ['put-deployment-log', 'text'],
  ])('is left to the sender when the whole structure differs: %s %j', (id, given) => {
    expect(correctedValue(bodyOf(id), given)?.value).not.toEqual(
      expect.objectContaining({ name: 'value' }),
    );
    expect(JSON.stringify(correctedValue(bodyOf(id), given)?.value ?? '')).not.toMatch(
      /some|example/,
    );
  });

  it.each(bodies)('contains no word that was not sent: $id', ({ schema }) => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (given) => {
        const better = correctedValue(schema, given);
        if (!better || v.is(schema, given)) return true;
        const sent = textsIn(given).concat(JSON.stringify(given)).join('\n').toLowerCase();
        return textsIn(better.value).every(
          (text) => text.startsWith('\u{e000}') || sent.includes(text.toLowerCase()),
        );
      }),
      { seed: 4, numRuns: 30 },
    );
  });

  it('is unchanged when nothing was wrong', () => {
    const given = JSON.parse('{"__proto__": "own", "constructor": "too"}');
    expect(correctedValue(bodyOf('put-configuration'), given)?.value).toBe(given);
  });

  it('keeps a member named __proto__ beside a corrected one', () => {
    const given = JSON.parse('{"__proto__": "own", "speed": 7}');
    const { value } = correctedValue(bodyOf('put-configuration'), given) ?? {};
    expect(JSON.stringify(value)).toBe('{"__proto__":"own","speed":"7"}');
  });
});

describe('an example value for a shape', () => {
  it.each(bodies)('is valid for its shape: $id', ({ schema }) => {
    expect(v.safeParse(schema, exampleOf(schema)).issues).toBeUndefined();
  });
});
