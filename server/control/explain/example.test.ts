import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { mountedOperations } from '../../pipeline/endpoint.ts';
import { exampleOf, mended } from './example.ts';

const rows: readonly Operation[] = Object.values(mountedOperations);
const bodies = rows.flatMap(({ id, body }) => (body ? [{ id, schema: body }] : []));
const queries = rows.flatMap(({ id, query }) =>
  query ? [{ id, schema: v.object(query) as v.GenericSchema }] : [],
);
const answers = rows.flatMap(({ id, success }) =>
  Object.values(success).flatMap(({ shape }) => (shape ? [{ id, schema: shape }] : [])),
);
const shapes = [...bodies, ...queries, ...answers];

describe('an example', () => {
  it.each(shapes)('fits its shape: $id', ({ schema }) => {
    expect(v.safeParse(schema, exampleOf(schema)).issues).toBeUndefined();
  });

  it('is made for the bodies and the queries of the contract, all of them', () => {
    expect(bodies.length).toBeGreaterThan(40);
    expect(queries.length).toBeGreaterThan(20);
  });
});

describe('a mended value', () => {
  it.each(shapes)('fits its shape whatever it was: $id', ({ schema }) => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (given) => v.is(schema, mended(schema, given))),
      { seed: 4, numRuns: 30 },
    );
  });

  it.each([
    ['put-deployment-status', { status: 'instaling' }, { status: 'installing' }],
    ['put-deployment-status', { status: 'Success' }, { status: 'success' }],
    ['put-configuration', { speed: 9600 }, { speed: '9600' }],
    ['put-configuration', { on: true }, { on: 'true' }],
    ['set-auth-set-status', { status: 'sleeping' }, { status: 'accepted' }],
    [
      'post-auth-request',
      { id_data: { mac: '02:00:00:00:00:01' }, pubkey: 'a key' },
      { id_data: '{"mac":"02:00:00:00:00:01"}', pubkey: 'a key' },
    ],
  ] as const)('is the nearest that would do: %s of %j', (id, given, expected) => {
    expect(mended(mountedOperations[id]?.body ?? v.never(), given)).toEqual(expected);
  });

  it('keeps what was right, and replaces what was wrong', () => {
    const schema = mountedOperations['put-deployment-log']?.body ?? v.never();
    const right = { timestamp: '2026-01-31T12:00:00Z', level: 'warn', message: 'own words' };
    const given = { messages: [right, { ...right, timestamp: 'yesterday', message: 7 }] };
    expect(mended(schema, given)).toEqual({
      messages: [right, { ...right, message: 'something happened' }],
    });
  });

  it('adds what is missing, and leaves out what may not be there', () => {
    const schema = mountedOperations['create-user']?.body ?? v.never();
    expect(mended(schema, { password: 'x', roles: ['r'] })).toEqual({
      roles: ['r'],
      email: 'user@example.com',
    });
  });

  it('is the same value when nothing was wrong', () => {
    const given = JSON.parse('{"__proto__": "own", "constructor": "too"}');
    const schema = mountedOperations['put-configuration']?.body ?? v.never();
    expect(mended(schema, given)).toBe(given);
  });

  it('keeps a member that is called __proto__ beside one that is mended', () => {
    const given = JSON.parse('{"__proto__": "own", "speed": 7}');
    const schema = mountedOperations['put-configuration']?.body ?? v.never();
    expect(JSON.stringify(mended(schema, given))).toBe('{"__proto__":"own","speed":"7"}');
  });
});
