import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { authRequestShape } from '../../fixtures/contract/resources.ts';
import { authRequestFields, malformedBodies } from './auth-request-fields.ts';

const rows = Object.entries(authRequestFields).flatMap(([field, list]) =>
  list.map((row) => ({ field, ...row })),
);
const required = ['id_data', 'pubkey'];

describe('the table of the fields of an authentication request', () => {
  it('has every field of the contract, and no other', () => {
    expect(Object.keys(authRequestFields)).toEqual(Object.keys(authRequestShape.entries));
  });

  it.each(Object.keys(authRequestFields))(
    'tries %s missing, null, of other kinds, empty',
    (field) => {
      const values = Object.assign(
        {},
        ...rows.filter((row) => row.field === field).map((row) => row.values),
      );
      // Nobody says what an empty token of a tenant is.
      const empty = field === 'tenant_token' ? [] : ['an empty text'];
      expect(Object.keys(values)).toEqual(
        expect.arrayContaining(['a number', 'a truth value', 'an array', 'an object', ...empty]),
      );
      const always = Object.keys(values).filter((name) => ['missing', 'null'].includes(name));
      expect(always.toSorted()).toEqual(required.includes(field) ? ['missing', 'null'] : []);
    },
  );

  it.each(rows)(
    '$field: $slug is as the shape of the contract has it',
    ({ field, values, fate, slug }) => {
      const good = { id_data: '{}', pubkey: 'a key in PEM' };
      // The shape checks that these are strings, not what they contain.
      const isTextual = ['id-data-that-is-no-json-is-400', 'pubkey-that-is-no-pem-is-400'].includes(
        slug,
      );
      for (const [name, value] of Object.entries(values)) {
        const { success } = v.safeParse(authRequestShape, { ...good, [field]: value });
        const expected = fate === 'fine' || (isTextual && value !== '');
        expect([name, success]).toEqual([name, expected]);
      }
    },
  );

  it('calls no JSON what is none', () => {
    const texts = rows.find(({ slug }) => slug === 'id-data-that-is-no-json-is-400')?.values ?? {};
    expect(Object.keys(texts).length).toBeGreaterThan(3);
    for (const text of Object.values(texts)) expect(() => JSON.parse(String(text))).toThrow();
  });

  it('has bodies that are no request', () => {
    for (const [name, text] of Object.entries(malformedBodies)) {
      const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), authRequestShape), text);
      expect([name, parsed.success]).toEqual([name, false]);
    }
  });
});
