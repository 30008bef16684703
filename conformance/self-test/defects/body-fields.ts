/**
 * Defects in single fields of bodies, generated from the contract's field tables: the server
 * refuses or alters a valid value.
 */
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { fieldsOf, tables } from '../../../fixtures/contract/resource-tables.ts';
import { changedAt, changedJson, jsonOf, ownResponse } from '../alter.ts';
import { requestBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest } from '../defect.ts';

/** The resource of each body, and whether the body is a list of it. */
const bodies: Readonly<Partial<Record<OperationId, readonly [resource: string, isList: boolean]>>> =
  {
    'put-deployment-status': ['DeploymentStatus', false],
    'put-deployment-log': ['DeploymentLog', false],
    'post-alerts': ['Alert', true],
    'post-monitor-configuration': ['MonitorConfiguration', true],
    'patch-attributes': ['Attribute (inventory)', true],
    'put-attributes': ['Attribute (inventory)', true],
  };

/** Returns true if `appliesTo` accepts a value at the path in the body. */
function hasAt(
  request: ProxiedRequest,
  path: string,
  appliesTo: (value: unknown) => boolean,
): boolean {
  let isFound = false;
  changedAt(jsonOf(request), path, (value) => {
    isFound ||= appliesTo(value);
    return value;
  });
  return isFound;
}

function refusalOf(appliesTo: (request: ProxiedRequest) => boolean): () => Alteration {
  return () => ({
    request: (request) =>
      appliesTo(request) ? ownResponse(400, { error: 'refused', request_id: 'defect' }) : request,
  });
}

const validValueRequirements: readonly [RequirementId, ...RequirementId[]] = [
  'service.legal-values',
  'service.legal-values-are-kept',
  'log.timestamp-is-a-date-time',
];

/** For each type of field, a valid value that a server may not handle. */
const values: Readonly<
  Record<string, readonly [phrase: string, appliesTo: (value: unknown) => boolean]>
> = {
  text: ['a string of digits', (value) => value === '007'],
  time: ['an offset west of UTC', (value) => String(value).endsWith('-11:00')],
};

function fieldDefects(operation: OperationId, path: string, type: string): readonly Defect[] {
  const slug = path.replaceAll(/\*\.?/g, '').replaceAll(/[._]/g, '-');
  const [phrase, appliesTo] = values[type] ?? [];
  if (!phrase || !appliesTo) return [];
  const refusal: Defect = {
    id: `${operation}-refuses-a-${type}-in-${slug}`,
    title: `The operation ${operation} refuses ${phrase} in \`${path}\`.`,
    violates: validValueRequirements,
    operations: [operation],
    alter: refusalOf((request) => hasAt(request, path, appliesTo)),
  };
  if (type !== 'text') return [refusal];
  const loss: Defect = {
    id: `${operation}-loses-blanks-in-${slug}`,
    title: `The operation ${operation} keeps only one of several spaces in \`${path}\`.`,
    violates: ['service.legal-values-are-kept'],
    operations: [operation],
    alter: requestBecomes((request) =>
      hasAt(request, path, (value) => value === 'a  b')
        ? changedJson(request, (body) => changedAt(body, path, (value) => oneBlank(value)))
        : request,
    ),
  };
  return [refusal, loss];
}

function oneBlank(value: unknown): unknown {
  return value === 'a  b' ? 'a b' : value;
}

function defectsOf([operation, [resource, isList]]: [
  OperationId,
  readonly [string, boolean],
]): readonly Defect[] {
  const table = tables.find(({ name }) => name === resource);
  const fields = table ? fieldsOf(table) : [];
  const unknownMemberDefect: Defect = {
    id: `${operation}-refuses-unknown-members`,
    title: `The operation ${operation} refuses a body with a member that it does not know.`,
    violates: ['service.unknown-members'],
    operations: [operation],
    alter: refusalOf(({ body }) => body.includes('"x_newer"')),
  };
  const ofFields = fields.flatMap(({ path, type }) => {
    const steps = path.map((step) => (step === '[]' ? '*' : step));
    return fieldDefects(operation, [...(isList ? ['*'] : []), ...steps].join('.'), type);
  });
  return [unknownMemberDefect, ...ofFields];
}

const polls: readonly Defect[] = (['post-next-deployment', 'post-next-deployment-v2'] as const).map(
  (operation) => ({
    id: `${operation}-refuses-pairs-of-digits`,
    title: `The operation ${operation} refuses a string of digits.`,
    violates: validValueRequirements,
    operations: [operation],
    alter: refusalOf(({ body }) => body.includes('"007"')),
  }),
);

/** Spec: Resources and their fields */
export const bodyFieldDefects: readonly Defect[] = [
  ...Object.entries(bodies).flatMap(([id, row]) => defectsOf([id as OperationId, row])),
  ...polls,
];
