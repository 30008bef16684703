import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import { fieldsOf, tables } from '../../fixtures/contract/resource-tables.ts';
import {
  artifactShape,
  attributesShape,
  deviceConfigurationShape,
} from '../../fixtures/contract/resources.ts';
import { allowedNames, allowedTexts } from '../context/configuration-pairs.ts';
import { malformedIds } from '../context/malformed-ids.ts';
import {
  bodyKinds,
  expectationOf,
  fieldKinds,
  type InputTable,
  inputsOf,
} from '../suite/input-table.ts';
import { authRequestInputs, textualRequest } from './authentication/auth-request-fields.ts';
import { pairInputs, validPairs } from './configuration/configuration.ts';
import { logInputs, validLog } from './deployments/deployment-log-inputs.ts';
import { reportInputs, validReport } from './deployments/deployment-status.ts';
import {
  inputsV2,
  provideInputs,
  validBodyV2,
  validProvides,
} from './deployments/next-deployment-inputs.ts';
import { kinds } from './inventory/inventory.ts';
import { attributeInputs, validAttributes } from './inventory/inventory-refusals.ts';
import { alertBodies, configurationInputs } from './monitor/monitor.ts';
import { alertInputs } from './monitor/monitor-alert-fields.ts';
import { alert, service } from './monitor/monitor-samples.ts';

interface TestedTable {
  readonly operation: OperationId;
  readonly what: string;
  readonly table: InputTable;
  readonly validBody: unknown;
}

/** Returns the field names of a contract resource, spelled as in the input tables. */
function fieldsOfResource(name: string): string[] {
  const resource = tables.find((each) => each.name === name);
  return (resource ? fieldsOf(resource) : []).map(({ path }) =>
    path.join('.').replaceAll('.[]', '[]'),
  );
}

const provideFields = ['artifact_name', 'device_type', 'colour'];

/** The input tables that must contain every kind of value for each of these fields. */
const completeTables: readonly (TestedTable & { readonly fields: readonly string[] })[] = [
  {
    operation: 'put-deployment-status',
    what: 'a report',
    table: reportInputs,
    validBody: validReport,
    fields: fieldsOfResource('DeploymentStatus'),
  },
  {
    operation: 'put-deployment-log',
    what: 'a log',
    table: logInputs,
    validBody: validLog,
    fields: [...fieldsOfResource('DeploymentLog'), 'messages[]'],
  },
  {
    operation: 'post-next-deployment',
    what: 'what a device provides',
    table: provideInputs,
    validBody: validProvides,
    fields: provideFields,
  },
  {
    operation: 'post-next-deployment-v2',
    what: 'what a device provides',
    table: inputsV2,
    validBody: validBodyV2,
    fields: [
      'device_provides',
      ...provideFields.map((field) => `device_provides.${field}`),
      'update_control_map',
    ],
  },
];

const inputTables: readonly TestedTable[] = [
  ...completeTables,
  {
    operation: 'post-auth-request',
    what: 'a request',
    table: authRequestInputs,
    validBody: textualRequest,
  },
  { operation: 'put-configuration', what: 'pairs', table: pairInputs, validBody: validPairs },
  { operation: 'post-alerts', what: 'the body', table: alertBodies, validBody: [alert] },
  { operation: 'post-alerts', what: 'an alert', table: alertInputs, validBody: [alert] },
  {
    operation: 'post-monitor-configuration',
    what: 'an entry',
    table: configurationInputs,
    validBody: [service],
  },
  ...(['patch-attributes', 'put-attributes'] as const).map((operation) => ({
    operation,
    what: 'attributes',
    table: attributeInputs(operation, 'PUT'),
    validBody: validAttributes,
  })),
];

/** The kinds of values without an input of their own, because separate fields cover the object. */
const objects: Readonly<Record<string, readonly string[]>> = {
  'messages[]': ['missing', 'object'],
  device_provides: ['object'],
};

/**
 * Rows whose text is refused because of its content, which the shapes of the contract do not check.
 */
const refusedForContent = ['id-data-that-is-not-json-is-400', 'pubkey-that-is-no-pem-is-400'];

function isAccepted(operation: OperationId, text: string | undefined): boolean {
  const { body } = operations[operation] as { body?: v.GenericSchema };
  if (text === undefined || !body) return false;
  return v.safeParse(v.pipe(v.string(), v.parseJson(), body), text).success;
}

/** Returns the names of all inputs with this expectation for which `isWrong` returns true. */
function inputsThat(
  { operation, table, validBody }: TestedTable,
  expectation: 'refused' | 'accepted',
  isWrong: (isAccepted: boolean) => boolean,
): readonly string[] {
  return Object.entries(table)
    .filter(([id, row]) => expectationOf(row) === expectation && !refusedForContent.includes(id))
    .flatMap(([id, row]) => inputsOf(row, validBody).map((input) => ({ id, ...input })))
    .filter(({ raw }) => isWrong(isAccepted(operation, raw)))
    .map(({ id, name }) => `${id}: ${name}`);
}

/** The kinds of values that a field gets; inputs with names of their own do not count. */
function kindsIn(table: InputTable, validBody: unknown, path: string): readonly string[] {
  const known: readonly string[] = [...fieldKinds, ...bodyKinds];
  return Object.values(table)
    .flatMap((row) => inputsOf(row, validBody))
    .filter(({ field }) => field === path)
    .map(({ name }) => name.slice(path.length).trim())
    .filter((name) => known.includes(name));
}

describe.each(inputTables)('the inputs of $operation for $what', (tested) => {
  const { operation, table, validBody } = tested;

  it('start from a body that the contract accepts', () => {
    expect(isAccepted(operation, JSON.stringify(validBody))).toBe(true);
  });

  it('expect a refusal only for a body that the contract refuses', () => {
    expect(inputsThat(tested, 'refused', (accepted) => accepted)).toEqual([]);
  });

  it('expect success only for a body that the contract accepts', () => {
    expect(inputsThat(tested, 'accepted', (accepted) => !accepted)).toEqual([]);
  });

  it('belong to a requirement of the operation, which is a MAY for open inputs', () => {
    for (const [id, row] of Object.entries(table)) {
      const isOpen = expectationOf(row) === 'open';
      const record: Requirement = requirements[row.requirement];
      expect([id, record.operations.includes(operation)]).toEqual([id, true]);
      expect([id, record.level === 'may']).toEqual([id, isOpen]);
      expect([id, record.openPoint !== undefined]).toEqual([id, isOpen]);
    }
  });
});

describe.each(completeTables)(
  'the complete inputs of $operation',
  ({ table, validBody, fields }) => {
    it('cover every field of the contract and no other field', () => {
      const namedFields = new Set(Object.values(table).map(({ field }) => field));
      expect([...namedFields].sort()).toEqual(['', ...fields].sort());
    });

    it('contain each kind of value exactly once for each field', () => {
      for (const field of fields) {
        const expected = fieldKinds.filter((kind) => !objects[field]?.includes(kind));
        expect([field, kindsIn(table, validBody, field).toSorted()]).toEqual([
          field,
          expected.toSorted(),
        ]);
      }
      expect(kindsIn(table, validBody, '').toSorted()).toEqual(bodyKinds.toSorted());
    });
  },
);

describe('the inputs of an authentication request', () => {
  it.each(fieldsOfResource('AuthRequest'))('contain %s with each wrong type of value', (field) => {
    const isRequired = ['id_data', 'pubkey'].includes(field);
    const otherKinds = ['array', 'boolean', 'number', 'object'];
    const expected = isRequired ? [...otherKinds, 'missing', 'null'].toSorted() : otherKinds;
    expect(kindsIn(authRequestInputs, textualRequest, field).toSorted()).toEqual(expected);
  });

  it('contain only invalid JSON in the row for identity data that is not JSON', () => {
    const row = authRequestInputs['id-data-that-is-not-json-is-400'];
    const texts = (row ? inputsOf(row, textualRequest) : []).map(({ value }) => String(value));
    expect(texts.length).toBeGreaterThan(3);
    for (const text of texts) expect(() => JSON.parse(text)).toThrow();
  });
});

describe('an input of a table', () => {
  it.each([
    ['status', undefined, { substate: 'check' }],
    ['substate', 7, { status: 'installing', substate: 7 }],
    ['details.note', 'x', { status: 'installing', substate: 'check', details: { note: 'x' } }],
    ['', '{', '{'],
  ])('is the valid body with the field %j replaced', (field, value, expected) => {
    const row = {
      title: '',
      requirement: 'status.substate',
      field,
      refused: { so: value },
    } as const;
    const [input] = inputsOf(row, { status: 'installing', substate: 'check' });
    expect(input).toEqual({
      name: `${field} so`.trim(),
      field,
      value,
      raw: typeof expected === 'string' ? expected : JSON.stringify(expected),
    });
  });

  it('replaces the field in the last entry of a list', () => {
    const row = {
      title: '',
      requirement: 'log.fields-are-required',
      field: 'list[].a',
      open: ['null', 'missing'],
    } as const;
    const inputs = inputsOf(row, { list: [{ a: 1 }, { a: 2, b: 3 }] });
    expect(inputs.map(({ name, raw }) => [name, raw])).toEqual([
      ['list[].a null', '{"list":[{"a":1},{"b":3,"a":null}]}'],
      ['list[].a missing', '{"list":[{"a":1},{"b":3}]}'],
    ]);
  });

  it('can be a missing body or a body that is not JSON', () => {
    const row = {
      title: '',
      requirement: 'status.body-is-required',
      field: '',
      refused: ['missing', 'not JSON'],
    } as const;
    const [missingInput, noJson] = inputsOf(row, validReport);
    expect(missingInput?.raw).toBeUndefined();
    expect(() => JSON.parse(noJson?.raw ?? '')).toThrow(SyntaxError);
  });
});

describe('the other values that cases send', () => {
  it('are attributes that the contract accepts', () => {
    for (const { label, values } of kinds) {
      const refusedValues = values.filter(
        (value) => !v.is(attributesShape, [{ name: 'a', value }]),
      );
      expect([label, refusedValues]).toEqual([label, []]);
    }
  });

  it('are configuration pairs that the contract accepts', () => {
    const pairs = allowedNames.map((name, index) => [name, allowedTexts[index] ?? 'text']);
    expect(v.is(deviceConfigurationShape, Object.fromEntries(pairs))).toBe(true);
  });

  it('are malformed IDs that no artifact can have', () => {
    const ids = Object.values(malformedIds);
    expect(ids.filter((id) => v.is(artifactShape.entries.id, id))).toEqual([]);
  });
});
