/** Generates random bodies of any shape, to cover every valid response of an operation. */
import fc from 'fast-check';
import * as v from 'valibot';
import { timestamp } from '../../../fixtures/contract/text.ts';

interface SchemaParts {
  readonly type: string;
  readonly pipe?: readonly { readonly kind: string }[];
  readonly item?: v.GenericSchema;
  readonly wrapped?: v.GenericSchema;
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
  readonly options?: readonly (v.GenericSchema | string)[];
}

const dateTimes = fc
  .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ maxLength: 12 }),
);
const names = fc.oneof(fc.string({ minLength: 1, maxLength: 8 }), fc.constant('__proto__'));

/**
 * Returns a generator of values that match the shape.
 * @throws Error for a shape that this module does not support
 */
export function bodiesOf(shape: v.GenericSchema): fc.Arbitrary<unknown> {
  return arbitraryOf(shape).filter((body) => v.safeParse(shape, body).success);
}

function arbitraryOf(schema: v.GenericSchema): fc.Arbitrary<unknown> {
  if (schema === timestamp) return dateTimes;
  const parts = schema as unknown as SchemaParts;
  if (parts.type === 'custom') return customOf(schema, parts);
  const { item, wrapped, entries, options = [] } = parts;
  if (item) return fc.array(bodiesOf(item), { maxLength: 4 });
  if (wrapped) {
    const absent = parts.type === 'nullable' ? null : undefined;
    return fc.oneof(fc.constant(absent), bodiesOf(wrapped));
  }
  if (entries) return objectOf(entries);
  switch (parts.type) {
    case 'string':
      return fc.oneof(fc.uuid({ version: 4 }), texts);
    case 'number':
      return fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
    case 'boolean':
      return fc.boolean();
    case 'unknown':
      return fc.oneof(texts, fc.integer(), fc.array(texts, { maxLength: 3 }));
    case 'null':
      return fc.constant(null);
    case 'picklist':
      return fc.constantFrom(...options);
    case 'union':
      return fc.oneof(...options.map((option) => bodiesOf(option as v.GenericSchema)));
    case 'intersect':
      return fc
        .tuple(...options.map((option) => bodiesOf(option as v.GenericSchema)))
        .map((objects) => Object.assign({}, ...objects) as object);
    default:
      throw new Error(`no bodies of the type ${parts.type} are made here`);
  }
}

/**
 * Generates values of a custom schema. An object schema is a check followed by the actual shape; a
 * map hides the shape of its values in a function, so the generator finds it by trial.
 */
function customOf(schema: v.GenericSchema, { pipe = [] }: SchemaParts): fc.Arbitrary<unknown> {
  const inner = pipe.filter((part): part is v.GenericSchema => part.kind === 'schema')[1];
  if (inner) return bodiesOf(inner);
  const values: readonly fc.Arbitrary<unknown>[] = [
    texts,
    fc.array(texts, { maxLength: 4 }),
    fc.nat(),
    fc.constant({ a: 'pause' }),
  ];
  const taken = values.filter((value) =>
    fc.sample(value, { numRuns: 5, seed: 1 }).every((one) => v.is(schema, { a: one })),
  );
  if (taken.length === 0) return fc.constant({});
  return fc.dictionary(names, fc.oneof(...taken), { maxKeys: 4, noNullPrototype: true });
}

function objectOf(entries: Readonly<Record<string, v.GenericSchema>>): fc.Arbitrary<unknown> {
  const members = Object.entries(entries).map(([name, member]) => [name, bodiesOf(member)]);
  const objects = fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>);
  return objects.map((object) =>
    Object.fromEntries(Object.entries(object).filter(([, member]) => member !== undefined)),
  );
}
