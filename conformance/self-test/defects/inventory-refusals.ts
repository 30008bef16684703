/** Defects in what an inventory refuses and accepts. Spec: Attribute (inventory) */
import { entriesOf, isMap, type Members, membersOf } from '../../target/json-members.ts';
import { jsonOf, listOf } from '../alter.ts';
import { statusBecomes } from '../alterations.ts';
import type { Defect } from '../defect.ts';

import { attributeWrites, hasAttribute } from './inventory.ts';

/** Returns true for an object with at least one member; an empty one is a separate defect. */
function isFilled(attribute: Members): boolean {
  return Object.keys(attribute).length > 0;
}

function isMixed({ value }: Members): boolean {
  const kinds = new Set(entriesOf(value).map((entry) => typeof entry));
  return kinds.has('number') && kinds.has('string');
}

function isOtherKind({ value }: Members): boolean {
  if (Array.isArray(value)) {
    return value.some((entry) => typeof entry !== 'number' && typeof entry !== 'string');
  }
  return typeof value === 'boolean' || isMap(value);
}

export const inventoryRefusalDefects: readonly Defect[] = [
  {
    id: 'attribute-needs-no-name',
    title: 'An attribute whose name is missing or not a string is answered with 200.',
    violates: ['inventory.name'],
    operations: attributeWrites,
    alter: statusBecomes(
      400,
      200,
      hasAttribute((one) => isFilled(one) && typeof one.name !== 'string'),
    ),
  },
  {
    id: 'attribute-needs-no-value',
    title: 'An attribute without a value is answered with 200.',
    violates: ['inventory.value'],
    operations: attributeWrites,
    alter: statusBecomes(
      400,
      200,
      hasAttribute((one) => isFilled(one) && !('value' in one)),
    ),
  },
  {
    id: 'attribute-takes-null',
    title: 'An attribute whose value is null is answered with 200.',
    violates: ['inventory.value'],
    operations: attributeWrites,
    alter: statusBecomes(
      400,
      200,
      hasAttribute(({ value }) => value === null),
    ),
  },
  {
    id: 'description-of-any-kind-is-accepted',
    title: 'An attribute whose description is not a string is answered with 200.',
    violates: ['inventory.description'],
    operations: attributeWrites,
    alter: statusBecomes(
      400,
      200,
      hasAttribute((one) => 'description' in one && typeof one.description !== 'string'),
    ),
  },
  {
    id: 'description-is-refused',
    title: 'An attribute with a description is answered with 400.',
    violates: ['inventory.description'],
    operations: attributeWrites,
    alter: statusBecomes(
      200,
      400,
      hasAttribute((one) => 'description' in one),
    ),
  },
  {
    id: 'mixed-arrays-are-accepted',
    title: 'An array of numbers and strings is answered with 200.',
    violates: ['inventory.mixed-arrays-are-400'],
    operations: attributeWrites,
    alter: statusBecomes(400, 200, hasAttribute(isMixed)),
  },
  {
    id: 'values-of-any-kind-are-accepted',
    title: 'A boolean, an object or an array of these is answered with 200.',
    violates: ['inventory.other-kinds-are-400'],
    operations: attributeWrites,
    alter: statusBecomes(400, 200, hasAttribute(isOtherKind)),
  },
  {
    id: 'empty-attribute-is-accepted',
    title: 'An attribute without any field is answered with 200.',
    violates: ['inventory.fields-are-required'],
    operations: attributeWrites,
    alter: statusBecomes(
      400,
      200,
      hasAttribute((one) => !isFilled(one)),
    ),
  },
  {
    id: 'attributes-of-any-form-are-accepted',
    title: 'A body that is not a JSON array of attributes is answered with 200.',
    violates: ['inventory.malformed-is-400'],
    operations: attributeWrites,
    alter: statusBecomes(400, 200, (request) => {
      const body = jsonOf(request);
      return request.body.length > 0 && !(Array.isArray(body) && body.every(isMap));
    }),
  },
  {
    id: 'attribute-names-are-identifiers',
    title: 'An attribute whose name has a space or a letter beyond ASCII is answered with 400.',
    violates: ['inventory.name', 'inventory.patch-adds'],
    operations: attributeWrites,
    alter: statusBecomes(200, 400, (request) =>
      listOf(request).some((one) => /[^!-~]/.test(String(membersOf(one).name ?? ''))),
    ),
  },
  {
    id: 'attributes-need-no-body',
    title: 'A request without a body is answered with 200.',
    violates: ['inventory.body-is-required'],
    operations: attributeWrites,
    alter: statusBecomes(400, 200, ({ body }) => body.length === 0),
  },
  {
    id: 'attributes-of-strangers-are-403',
    title: 'Attributes without a token are answered with 403.',
    violates: ['inventory.unauthenticated-is-401', 'tokens.missing-is-401'],
    operations: attributeWrites,
    alter: statusBecomes(401, 403, ({ headers }) => headers.authorization === undefined),
  },
];
