/** Cases: attributes that are refused. Spec: Device inventory; Attribute (inventory) */

import { acceptedDevice } from '../context/start-states.ts';
import type { SuiteDevice } from '../context/suite-device.ts';
import { defineScenario, type JudgingCase } from '../suite/case.ts';
import { expectEach } from '../target/expectations.ts';
import { type Writing, writeAttributes as write } from './inventory-writing.ts';

/** Attributes that neither PATCH nor PUT may accept, by the rule that they break. */
export const refusedAttributes = {
  name: {
    'no name': { value: 'b' },
    'null as name': { name: null, value: 'b' },
    'a number as name': { name: 7, value: 'b' },
    'a boolean as name': { name: true, value: 'b' },
    'an object as name': { name: {}, value: 'b' },
    'an array as name': { name: ['a'], value: 'b' },
  },
  value: { 'no value': { name: 'a' }, 'null as value': { name: 'a', value: null } },
  description: {
    'a number as description': { name: 'a', value: 1, description: 7 },
    'a boolean as description': { name: 'a', value: 1, description: true },
    'an object as description': { name: 'a', value: 1, description: {} },
    'an array as description': { name: 'a', value: 1, description: ['a'] },
  },
  mixed: {
    'a number and a text': { name: 'a', value: [1, 'two'] },
    'a text and a number': { name: 'a', value: ['one', 2] },
    'one text among numbers': { name: 'a', value: [1, 2, 3, '4', 5] },
  },
  otherKinds: {
    true: { name: 'a', value: true },
    false: { name: 'a', value: false },
    'an empty object': { name: 'a', value: {} },
    'an object': { name: 'a', value: { b: 'c' } },
    'an array of arrays': { name: 'a', value: [[1]] },
    'an array of booleans': { name: 'a', value: [true] },
    'an array of objects': { name: 'a', value: [{}] },
    'an array of null': { name: 'a', value: [null] },
  },
} as const;

/** Bodies that are not a JSON array of objects. */
export const malformedAttributeBodies = {
  'JSON that is cut': '[{"name":',
  'one attribute': '{"name":"a","value":"b"}',
  'an array of texts': '["a"]',
  'an array of null': '[null]',
  'an array of arrays': '[[]]',
  'a text': '"a"',
  'a number': '7',
  null: 'null',
};

const good = { name: 'good', value: 1 };

function refusalCases(how: Writing, method: string): readonly JudgingCase<SuiteDevice>[] {
  const slug = method.toLowerCase();
  const each = (rows: Readonly<Record<string, unknown>>) => (device: SuiteDevice) =>
    expectEach(400, rows, (attribute) => write(device, how, attribute));
  return [
    {
      id: `${slug}-without-name-is-400`,
      title: `${method} with an attribute whose name is missing or no text is answered 400.`,
      requirements: ['inventory.name'],
      covers: [`${how} 400`],
      run: each(refusedAttributes.name),
    },
    {
      id: `${slug}-without-value-is-400`,
      title: `${method} with an attribute whose value is missing or null is answered 400.`,
      requirements: ['inventory.value'],
      run: each(refusedAttributes.value),
    },
    {
      id: `${slug}-without-fields-is-400`,
      title: `${method} with an attribute without any field, even after a good one, is 400.`,
      requirements: ['inventory.fields-are-required'],
      run: async (device) => {
        const bodies = { alone: [{}], 'after a good one': [good, {}] };
        await expectEach(400, bodies, (body) => device.call(how, { body }));
      },
    },
    {
      id: `${slug}-of-other-descriptions-is-400`,
      title: `${method} with a description that is no text is answered 400.`,
      requirements: ['inventory.description'],
      run: each(refusedAttributes.description),
    },
    {
      id: `${slug}-of-mixed-arrays-is-400`,
      title: `${method} with a value that is an array of numbers and texts is answered 400.`,
      requirements: ['inventory.mixed-arrays-are-400'],
      run: each(refusedAttributes.mixed),
    },
    {
      id: `${slug}-of-other-kinds-is-400`,
      title: `${method} with a boolean, an object or an array of such is answered 400.`,
      requirements: ['inventory.other-kinds-are-400'],
      run: each(refusedAttributes.otherKinds),
    },
    {
      id: `${slug}-of-malformed-body-is-400`,
      title: `${method} with a body that is no JSON array of attributes is answered 400.`,
      requirements: ['inventory.malformed-is-400'],
      run: async (device) =>
        expectEach(400, malformedAttributeBodies, (raw) => device.call(how, { raw })),
    },
    {
      id: `${slug}-without-body-is-400`,
      title: `${method} without a body is answered 400.`,
      requirements: ['inventory.body-is-required'],
      run: async (device) => expectEach(400, { 'no body': how }, (id) => device.call(id)),
    },
    {
      id: `${slug}-of-strangers-is-401`,
      title: `${method} without a token, and with one that is none, is answered 401.`,
      requirements: ['inventory.unauthenticated-is-401'],
      covers: [`${how} 401`],
      run: async (_, context) => {
        const callers = { 'no token': context.caller(), 'a word as token': context.caller('word') };
        await expectEach(401, callers, (caller) => caller.call(how, { body: [good] }));
      },
    },
  ];
}

/** Spec: Device inventory; Attribute (inventory) */
export const inventoryRefusalCases = defineScenario({
  area: 'inventory',
  name: 'Refusals',
  start: 'an accepted device that wrote nothing',
  risk: 'write',
  needs: ['operator'],
  arrange: acceptedDevice,
  cases: [...refusalCases('patch-attributes', 'PATCH'), ...refusalCases('put-attributes', 'PUT')],
});
