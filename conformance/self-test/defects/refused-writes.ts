/** Defects in lists with an invalid element, and effects of requests that are refused. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { membersOf } from '../../target/json-members.ts';
import { isSuccess, jsonOf, listOf, withJson } from '../alter.ts';
import { responseBecomes } from '../alterations.ts';
import type { Defect, ProxiedOperation, ProxiedRequest, ProxiedResponse } from '../defect.ts';
import { callerOf } from '../own-deployment.ts';
import { requestFor } from '../requests.ts';

/** A list in the body of an operation, and the requirements on its elements. */
interface ListBody {
  readonly operation: ProxiedOperation;
  readonly label: string;
  readonly elementRequirements: readonly [RequirementId, ...RequirementId[]];
}

const attributeRequirements = [
  'inventory.name',
  'inventory.value',
  'inventory.other-kinds-are-400',
  'inventory.mixed-arrays-are-400',
  'inventory.description',
  'inventory.fields-are-required',
] as const satisfies readonly RequirementId[];

const lists: readonly ListBody[] = [
  {
    operation: 'post-alerts',
    label: 'alerts',
    elementRequirements: [
      'alerts.name',
      'alerts.timestamp',
      'alerts.levels',
      'alerts.subject-status',
      'alerts.line-data',
    ],
  },
  {
    operation: 'post-monitor-configuration',
    label: 'monitor configurations',
    elementRequirements: [
      'monitor.name',
      'monitor.status',
      'monitor.type',
      'monitor.fields-are-required',
    ],
  },
  {
    operation: 'patch-attributes',
    label: 'attributes by PATCH',
    elementRequirements: attributeRequirements,
  },
  {
    operation: 'put-attributes',
    label: 'attributes by PUT',
    elementRequirements: attributeRequirements,
  },
  {
    operation: 'put-deployment-log',
    label: 'messages of a log',
    elementRequirements: [
      'log.timestamp-is-required',
      'log.timestamp-is-a-date-time',
      'log.timestamp-is-string',
      'log.level-is-required',
      'log.level-is-string',
      'log.message-is-required',
      'log.message-is-string',
      'log.messages-are-objects',
      'log.fields-are-required',
    ],
  },
];

function elementsOf(request: ProxiedRequest): readonly unknown[] {
  if (request.operation !== 'put-deployment-log') return listOf(request);
  const { messages } = membersOf(jsonOf(request));
  return Array.isArray(messages) ? messages : [];
}

function withElements(request: ProxiedRequest, elements: readonly unknown[]): ProxiedRequest {
  const isLog = request.operation === 'put-deployment-log';
  return withJson(request, isLog ? { messages: elements } : elements);
}

/** Answers a refused list as the target answers one of its elements. */
function judgedBy(pick: (elements: readonly unknown[]) => unknown) {
  return responseBecomes(async (response, request, send): Promise<ProxiedResponse> => {
    const elements = elementsOf(request);
    if (response.status !== 400 || elements.length < 2) return response;
    const otherResponse = await send(withElements(request, [pick(elements)]));
    return isSuccess(otherResponse) ? otherResponse : response;
  });
}

/** Lets a refused list store the elements that the target accepts alone. */
const storesInPart = responseBecomes(async (response, request, send) => {
  const elements = elementsOf(request);
  if (response.status !== 400 || elements.length < 2) return response;
  for (const element of elements) await send(withElements(request, [element]));
  return response;
});

function listDefects({ operation, label, elementRequirements }: ListBody): readonly Defect[] {
  return [
    {
      id: `only-the-first-of-${operation}-is-judged`,
      title: `Of several ${label}, only the first is checked.`,
      violates: elementRequirements,
      operations: [operation],
      alter: judgedBy((elements) => elements[0]),
    },
    {
      id: `only-the-last-of-${operation}-is-judged`,
      title: `Of several ${label}, only the last is checked.`,
      violates: elementRequirements,
      operations: [operation],
      alter: judgedBy((elements) => elements.at(-1)),
    },
    {
      id: `refused-${operation}-is-stored-in-part`,
      title: `A request that is refused for one of several ${label} stores the others.`,
      violates: ['errors.refused-changes-nothing'],
      operations: [operation],
      alter: storesInPart,
    },
  ];
}

export const refusedWriteDefects: readonly Defect[] = [
  ...lists.flatMap(listDefects),
  {
    id: 'refused-report-sets-the-status',
    title: 'A status report that is refused for its substate still sets the status.',
    violates: ['errors.refused-changes-nothing'],
    operations: ['put-deployment-status'],
    alter: responseBecomes(async (response, request, send) => {
      const { status, substate } = membersOf(jsonOf(request));
      const isInPart = response.status === 400 && substate !== undefined;
      if (isInPart) await send(withJson(request, { status }));
      return response;
    }),
  },
  {
    id: 'configuration-of-an-invalid-token-is-stored',
    title: 'A configuration that is refused for its token is stored.',
    violates: ['errors.refused-changes-nothing'],
    operations: ['put-configuration'],
    alter: responseBecomes(async (response, request, send) => {
      const id = callerOf(request);
      if (response.status !== 401 || id === '') return response;
      const json = jsonOf(request);
      const token = send.userToken;
      await send(requestFor('set-configuration', { parameters: { id }, token, json }));
      return response;
    }),
  },
];
