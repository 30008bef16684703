import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { statusRequirements } from '../../fixtures/contract/requirements/deployment-status.ts';
import { requirements } from '../../fixtures/contract/requirements/index.ts';
import type { Requirement } from '../../fixtures/contract/requirements/requirement.ts';
import { fieldsOf, tables } from '../../fixtures/contract/resource-tables.ts';
import {
  deviceDeploymentStatuses,
  finalStatuses,
  reportableStatuses,
} from '../../fixtures/contract/vocabulary.ts';
import { bodyKinds, fieldKinds, type InputRow, inputText } from '../suite/boundary.ts';
import { instructionFields } from '../suite/instruction-fields.ts';
import { goodLog, logInputs, timestamps } from './deployment-log.ts';
import {
  abortableStates,
  deploymentStateCases,
  endedStates,
  statusColumns,
} from './deployment-states.ts';
import { goodReport, otherStatuses, reportInputs } from './deployment-status.ts';
import { goodBodyV2, goodProvides, inputsV2, provideInputs } from './next-deployment-inputs.ts';

/** Returns the fields of a contract resource, named as in the tables of inputs. */
function fieldsOfResource(name: string): string[] {
  const resource = tables.find((each) => each.name === name);
  return (resource ? fieldsOf(resource) : []).map(({ path }) =>
    path.join('.').replaceAll('.[]', '[]'),
  );
}

interface InputTable {
  readonly operation: OperationId;
  readonly rows: readonly InputRow[];
  readonly good: unknown;
  readonly fields: readonly string[];
}

const provideFields = ['artifact_name', 'device_type', 'colour'];

/** Every table of inputs, with the fields that it must cover. */
const inputTables: readonly InputTable[] = [
  {
    operation: 'put-deployment-status',
    rows: reportInputs,
    good: goodReport,
    fields: fieldsOfResource('DeploymentStatus'),
  },
  {
    operation: 'put-deployment-log',
    rows: logInputs,
    good: goodLog,
    fields: [...fieldsOfResource('DeploymentLog'), 'messages[]'],
  },
  {
    operation: 'post-next-deployment',
    rows: provideInputs,
    good: goodProvides,
    fields: provideFields,
  },
  {
    operation: 'post-next-deployment-v2',
    rows: inputsV2,
    good: goodBodyV2,
    fields: [
      'device_provides',
      ...provideFields.map((field) => `device_provides.${field}`),
      'update_control_map',
    ],
  },
];

/** The kinds without an input of their own: the object there consists of fields. */
const objects: Readonly<Record<string, readonly string[]>> = {
  'messages[]': ['missing', 'object'],
  device_provides: ['object'],
};

function isTaken(operation: OperationId, text: string | undefined): boolean {
  const { body } = operations[operation] as { body?: v.GenericSchema };
  if (text === undefined || !body) return false;
  return v.safeParse(v.pipe(v.string(), v.parseJson(), body), text).success;
}

function kindsIn(rows: readonly InputRow[], field: string): string[] {
  return rows.filter((row) => row.field === field).flatMap(({ kinds }) => kinds);
}

describe.each(inputTables)('the inputs of $operation', ({ operation, rows, good, fields }) => {
  it('begin with a body that the contract takes', () => {
    expect(isTaken(operation, JSON.stringify(good))).toBe(true);
  });

  it('refuse only what the contract refuses', () => {
    const refused = rows.filter(({ answered }) => answered === 400);
    const taken = refused.flatMap(({ id, field, kinds }) =>
      kinds.filter((kind) => isTaken(operation, inputText(good, field, kind))).map(() => id),
    );
    expect(refused.length).toBeGreaterThan(3);
    expect(taken).toEqual([]);
  });

  it('take only what the contract takes', () => {
    const wanted = rows.filter(({ answered }) => answered === 'taken');
    const refused = wanted.flatMap(({ id, field, kinds }) =>
      kinds.filter((kind) => !isTaken(operation, inputText(good, field, kind))).map(() => id),
    );
    expect(wanted.length).toBeGreaterThan(1);
    expect(refused).toEqual([]);
  });

  it('speak of every field of the contract and of no other', () => {
    const named = new Set(rows.map(({ field }) => field));
    expect([...named].sort()).toEqual(['', ...fields].sort());
  });

  it('give each field in each way, once', () => {
    for (const field of fields) {
      const kinds = fieldKinds.filter((kind) => !objects[field]?.includes(kind));
      expect([field, kindsIn(rows, field).sort()]).toEqual([field, [...kinds].sort()]);
    }
    expect(kindsIn(rows, '').sort()).toEqual([...bodyKinds].sort());
  });

  it('are decided by requirements of the operation, and observed by open ones', () => {
    for (const { id, requirement, answered } of rows) {
      const record: Requirement = requirements[requirement];
      expect([id, record.operations.includes(operation)]).toEqual([id, true]);
      expect([id, record.level === 'may']).toEqual([id, answered === 'open']);
      expect([id, record.openPoint !== undefined]).toEqual([id, answered === 'open']);
    }
  });
});

describe('an input at the edge', () => {
  it('is the good body with one field otherwise', () => {
    expect(inputText(goodReport, 'status', 'missing')).toBe(
      '{"substate":"Executing script: check"}',
    );
    expect(JSON.parse(inputText(goodBodyV2, 'device_provides.colour', 'number') ?? '')).toEqual({
      ...goodBodyV2,
      device_provides: { ...goodProvides, colour: 7 },
    });
  });

  it('in a list stands behind a good entry', () => {
    const { messages } = JSON.parse(inputText(goodLog, 'messages[].level', 'missing') ?? '');
    const [{ level: _, ...others }] = goodLog.messages as [(typeof goodLog.messages)[number]];
    expect(messages).toEqual([...goodLog.messages, others]);
  });

  it('may be no body, or no JSON', () => {
    expect(inputText(goodReport, '', 'missing')).toBeUndefined();
    expect(() => JSON.parse(inputText(goodReport, '', 'no JSON') ?? '')).toThrow(SyntaxError);
  });
});

describe('the timestamps of logs', () => {
  const log = (timestamp: string) =>
    JSON.stringify({ messages: [{ ...goodLog.messages[0], timestamp }] });

  it.each(Object.entries(timestamps.taken))('are taken with %s', (_, timestamp) => {
    expect(isTaken('put-deployment-log', log(timestamp))).toBe(true);
  });

  it.each(Object.entries(timestamps.refused))('are refused with %s', (_, timestamp) => {
    expect(isTaken('put-deployment-log', log(timestamp))).toBe(false);
  });
});

describe('the statuses that are refused', () => {
  it('are none that a device may report', () => {
    const reportable: readonly string[] = reportableStatuses;
    expect(Object.values(otherStatuses).filter((word) => reportable.includes(word))).toEqual([]);
  });

  it('are among others all states that only the server brings about', () => {
    const reportable: readonly string[] = reportableStatuses;
    const ofServer = deviceDeploymentStatuses.filter((state) => !reportable.includes(state));
    expect(Object.values(otherStatuses)).toEqual(expect.arrayContaining(ofServer));
  });
});

describe('the reports in states', () => {
  it('are of each status of the contract, each with a requirement of its own', () => {
    expect([...statusColumns].sort()).toEqual([...reportableStatuses].sort());
    expect(Object.keys(statusRequirements).sort()).toEqual([...reportableStatuses].sort());
    expect(new Set(Object.values(statusRequirements)).size).toBe(reportableStatuses.length);
  });

  it('are played in each state that a part can be in while its device reports', () => {
    const notMet = ['pending', 'noartifact', 'decommissioned', 'aborted'];
    const met = deviceDeploymentStatuses.filter((state) => !notMet.includes(state));
    expect([...abortableStates, ...endedStates].sort()).toEqual(['offered', ...met].sort());
  });

  it('know which states are an end, as the vocabulary does', () => {
    const isEnd = (status: (typeof statusColumns)[number]) => finalStatuses.includes(status);
    expect(endedStates).toEqual(statusColumns.filter(isEnd));
    expect(abortableStates).toEqual(['offered', ...statusColumns.filter((each) => !isEnd(each))]);
  });

  it('are played to the last', () => {
    const ids = deploymentStateCases.map(({ id }) => id.split('/')[1]);
    const slugs = (names: readonly string[]) => names.map((name) => name.replaceAll('_', '-'));
    const played = [
      ...slugs([...abortableStates, ...endedStates]).map(
        (state) => `after-${state}-reports-are-204`,
      ),
      ...slugs(statusColumns).map((status) => `${status}-again-is-204`),
      ...slugs(abortableStates).flatMap((state) =>
        ['refuses-reports', 'stays', 'offers-nothing'].map((so) => `abort-in-${state}-${so}`),
      ),
      'of-another-device-is-404',
    ];
    expect(played.filter((id) => !ids.includes(id))).toEqual([]);
  });
});

describe('the fields of instructions', () => {
  const forms: Readonly<Record<string, string>> = {
    text: 'a text',
    texts: 'a list of texts',
    object: 'an object',
    time: 'a date-time',
  };

  it.each(['v1', 'v2'] as const)('are those of the table of %s', (version) => {
    const resource = tables.find(({ name }) => name === `DeploymentInstructions (${version})`);
    const reported = (resource ? fieldsOf(resource) : [])
      .map(({ path, isRequired, type }) => [path.join('.'), isRequired, forms[type]])
      .filter(([field]) => field !== 'artifact.update_control_map');
    const judged = instructionFields
      .filter(({ requirements: named }) => named[version] !== undefined)
      // The table types a link as text; following it is covered elsewhere.
      .map(({ field, isRequired, form }) => [
        field,
        isRequired,
        form === 'an absolute URL' ? 'a text' : form,
      ]);
    expect(judged.length).toBeGreaterThan(6);
    expect(judged).toEqual(reported);
  });
});
