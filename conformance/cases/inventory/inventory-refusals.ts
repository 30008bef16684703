/** Cases: attributes that are refused. Spec: Device inventory; Attribute (inventory) */
import { acceptedDevice } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import { defineScenario, type JudgingCase, type ObservingCase } from '../../suite/case.ts';
import { type InputTable, inputCases, otherThanString } from '../../suite/input-table.ts';
import { expectEach } from '../../target/expectations.ts';
import type { WriteOperation } from './inventory-writing.ts';

/** A list of one valid attribute. */
export const validAttributes = [{ name: 'a', value: 'b' }];

/** Returns the table of attributes and bodies that neither PATCH nor PUT may accept. */
export function attributeInputs(how: WriteOperation, method: string): InputTable {
  const slug = method.toLowerCase();
  return {
    [`${slug}-without-name-is-400`]: {
      title: `${method} with an attribute whose name is missing or not a string is answered with 400.`,
      requirement: 'inventory.name',
      field: '[].name',
      refused: ['missing', ...otherThanString],
      covers: [`${how} 400`],
    },
    [`${slug}-without-value-is-400`]: {
      title: `${method} with an attribute whose value is missing or null is answered with 400.`,
      requirement: 'inventory.value',
      field: '[].value',
      refused: ['missing', 'null'],
    },
    [`${slug}-without-fields-is-400`]: {
      title: `${method} with an attribute without any field, even after a valid one, is answered with 400.`,
      requirement: 'inventory.fields-are-required',
      field: '',
      refused: { alone: '[{}]', 'after a valid one': '[{"name":"good","value":1},{}]' },
    },
    [`${slug}-of-other-descriptions-is-400`]: {
      title: `${method} with a description that is not a string is answered with 400.`,
      requirement: 'inventory.description',
      field: '[].description',
      refused: ['number', 'boolean', 'object', 'array'],
    },
    [`${slug}-of-mixed-arrays-is-400`]: {
      title: `${method} with a value that is an array of numbers and strings is answered with 400.`,
      requirement: 'inventory.mixed-arrays-are-400',
      field: '[].value',
      refused: {
        'a number and a string': [1, 'two'],
        'a string and a number': ['one', 2],
        'one string among numbers': [1, 2, 3, '4', 5],
      },
    },
    [`${slug}-of-other-kinds-is-400`]: {
      title: `${method} with a boolean, an object or an array of these is answered with 400.`,
      requirement: 'inventory.other-kinds-are-400',
      field: '[].value',
      refused: {
        true: true,
        false: false,
        'an empty object': {},
        'an object': { b: 'c' },
        'an array of arrays': [[1]],
        'an array of booleans': [true],
        'an array of objects': [{}],
        'an array of null': [null],
      },
    },
    [`${slug}-of-malformed-body-is-400`]: {
      title: `${method} with a body that is not a JSON array of attributes is answered with 400.`,
      requirement: 'inventory.malformed-is-400',
      field: '',
      refused: {
        'JSON that is cut off': '[{"name":',
        'one attribute': '{"name":"a","value":"b"}',
        'an array of strings': '["a"]',
        'an array of null': '[null]',
        'an array of arrays': '[[]]',
        'a string': '"a"',
        'a number': '7',
        null: 'null',
      },
    },
    [`${slug}-without-body-is-400`]: {
      title: `${method} without a body is answered with 400.`,
      requirement: 'inventory.body-is-required',
      field: '',
      refused: ['missing'],
    },
  };
}

function refusalCases(
  how: WriteOperation,
  method: string,
): readonly (JudgingCase<SuiteDevice> | ObservingCase<SuiteDevice>)[] {
  return [
    ...inputCases<SuiteDevice>(attributeInputs(how, method), {
      body: validAttributes,
      send: (device, { raw }) => device.call(how, { raw }),
      accepted: [200],
    }),
    {
      id: `${method.toLowerCase()}-unauthenticated-is-401`,
      title: `${method} without a token, or with a malformed one, is answered with 401.`,
      requirements: ['inventory.unauthenticated-is-401'],
      covers: [`${how} 401`],
      run: async (_, context) => {
        const callers = { 'no token': context.caller(), 'a word as token': context.caller('word') };
        await expectEach(401, callers, (caller) => caller.call(how, { body: validAttributes }));
      },
    },
  ];
}

/** Spec: Device inventory; Attribute (inventory) */
export const inventoryRefusalCases = defineScenario({
  area: 'inventory',
  name: 'Refusals',
  start: 'an accepted device that has written nothing',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [...refusalCases('patch-attributes', 'PATCH'), ...refusalCases('put-attributes', 'PUT')],
});
