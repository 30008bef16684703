/**
 * Defects that are generated from the contract's rows: each kind of defect on each operation that
 * can have it. Hand-written defects test the meaning of responses; generated ones show that the
 * suite checks every operation.
 */
import type { ManagementId } from '../../../fixtures/contract/management/index.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { type OperationId, operations } from '../../../fixtures/contract/operations.ts';
import {
  fieldsOf,
  type ResourceField,
  tables,
} from '../../../fixtures/contract/resource-tables.ts';
import { linkPaths, requirementOn } from '../../passive/response-parts.ts';
import { changedAt, changedJson, jsonOf, withHeaders, withText } from '../alter.ts';
import { responseBecomes } from '../alterations.ts';
import { answeredResources } from '../answered-resources.ts';
import type { Alteration, Defect } from '../defect.ts';
import { isObject } from '../sent.ts';
import { nowAndThen, refusalKinds, SAMPLE, successKinds } from './generated-kinds.ts';

interface FieldDefectKind {
  readonly kind: string;
  readonly says: string;
  readonly appliesTo: (field: ResourceField) => boolean;
  readonly change: (path: string) => (body: unknown) => unknown;
}

const fieldKinds: readonly FieldDefectKind[] = [
  {
    kind: 'field-of-wrong-type',
    says: 'is of another type',
    appliesTo: ({ isRequired }) => isRequired,
    change: (path) => (body) => changedAt(body, path, wrongType),
  },
  {
    kind: 'field-is-missing',
    says: 'is missing',
    appliesTo: ({ isRequired }) => isRequired,
    change: (path) => (body) => changedAt(body, path, () => undefined),
  },
  {
    kind: 'field-is-renamed',
    says: 'has its name in capital letters',
    appliesTo: ({ isRequired }) => isRequired,
    change: (path) => (body) => renamedAt(body, path.split('.')),
  },
  {
    kind: 'date-is-none',
    says: 'is not a date-time',
    appliesTo: ({ type }) => type === 'time',
    change: (path) => (body) => changedAt(body, path, () => '31.01.2026 12:00'),
  },
];

function wrongType(value: unknown): unknown {
  return typeof value === 'string' ? { value } : String(value);
}

function renamedAt(value: unknown, [step = '', ...innerSteps]: readonly string[]): unknown {
  if (step === '*')
    return Array.isArray(value) ? value.map((each) => renamedAt(each, innerSteps)) : value;
  if (!isObject(value) || !(step in value)) return value;
  const { [step]: member, ...others } = value;
  return innerSteps.length > 0
    ? { ...others, [step]: renamedAt(member, innerSteps) }
    : { ...others, [step.toUpperCase()]: member };
}

function jsonBecomes(change: (body: unknown) => unknown): () => Alteration {
  return responseBecomes((response) =>
    response.status === 200 && jsonOf(response) !== undefined
      ? changedJson(response, change)
      : response,
  );
}

/** Returns a defect for each field kind, in the last field of the table that fits the kind. */
function fieldDefects(id: OperationId): readonly Defect[] {
  const [name, to] = answeredResources[id] ?? [];
  const resource = tables.find((each) => each.name === name);
  if (resource === undefined || to === undefined) return [];
  const fields = fieldsOf(resource).filter(
    ({ path, type }) => isAlwaysThere(path) || type === 'time',
  );
  return fieldKinds.flatMap(({ kind, says, appliesTo, change }) => {
    const field = fields.findLast(appliesTo);
    if (field === undefined) return [];
    const path = [...to, ...field.path.map((step) => (step === '[]' ? '*' : step))];
    const steps = path.filter((step, index) => step !== '*' || index > 0);
    return defectOf(id, {
      kind,
      says: `answers with a field ${field.path.join('.')} that ${says}`,
      violates: [requirementOn(id, ['body', ...steps])],
      alter: jsonBecomes(change(path.join('.'))),
    });
  });
}

/** Returns true if every parent of the field is required, so that each response has the field. */
function isAlwaysThere(path: readonly string[]): boolean {
  const optional = ['object.', 'updates', 'info', 'states', 'update_control_map', 'artifact.id'];
  return !optional.some((prefix) => path.join('.').startsWith(prefix));
}

function linkDefects(id: OperationId): readonly Defect[] {
  return linkPaths(id).map((steps) =>
    defectOf(id, {
      kind: 'link-is-relative',
      says: 'answers with a link that has no host',
      violates: [requirementOn(id, ['body', ...steps])],
      alter: jsonBecomes((body) => changedAt(body, steps.join('.'), () => '/files/1')),
    }),
  );
}

const otherDefects: readonly Defect[] = [
  defectOf('get-configuration', {
    kind: 'field-of-wrong-type',
    says: 'answers with values that are not strings',
    violates: ['configuration.read-strings'],
    alter: jsonBecomes((body) =>
      isObject(body) ? Object.fromEntries(Object.keys(body).map((name) => [name, 7])) : body,
    ),
  }),
  defectOf('post-auth-request', {
    kind: 'needless-quotes',
    says: 'answers with a token in quotes',
    violates: ['auth.token-is-plain-text'],
    alter: responseBecomes((response) =>
      response.status === 200
        ? withText(response, `"${response.body.toString('utf8')}"`)
        : response,
    ),
  }),
  defectOf('list-audit-logs', {
    kind: 'header-is-lost',
    says: 'answers without the count of all entries',
    violates: ['audit.total'],
    alter: responseBecomes((response) => withHeaders(response, { 'x-total-count': undefined })),
  }),
];

/** Management operations that many cases use, but not the set-up that all cases share. */
const managementIds: readonly ManagementId[] = [
  'get-device',
  'set-auth-set-status',
  'create-deployment',
  'list-deployment-devices',
  'abort-deployment',
  'decommission-device',
  'get-inventory',
];

const managementDefects: readonly Defect[] = managementIds.map((id) => ({
  id: `every-${id}-fault-now-and-then`,
  kind: 'fault-now-and-then',
  title: `The operation ${id} answers one valid request of three with 500.`,
  violates: ['errors.no-needless-fault'],
  operations: [id],
  sample: SAMPLE,
  alter: nowAndThen,
}));

function defectOf(
  id: OperationId,
  {
    kind,
    says,
    violates,
    alter,
    sample = SAMPLE,
  }: Pick<Defect, 'violates' | 'alter'> & {
    readonly kind: string;
    readonly says: string;
    readonly sample?: number;
  },
): Defect {
  const title = `The operation ${id} ${says}.`;
  return { id: `every-${id}-${kind}`, kind, title, violates, operations: [id], alter, sample };
}

const ids = Object.keys(operations) as OperationId[];

function kindDefects(id: OperationId): readonly Defect[] {
  const row: Operation = operations[id];
  return [...successKinds, ...refusalKinds]
    .filter(({ appliesTo }) => appliesTo?.(row) ?? true)
    .map(({ kind, says, violates, alter, sample }) =>
      defectOf(id, {
        kind,
        says,
        violates: violates(id),
        alter: alter(row),
        ...(sample !== undefined && { sample }),
      }),
    );
}

/** Every kind of defect on every operation. */
export const generatedDefects: readonly Defect[] = [
  ...ids.flatMap((id) => [...kindDefects(id), ...fieldDefects(id), ...linkDefects(id)]),
  ...otherDefects,
  ...managementDefects,
];
