/** Defects in the inventory of a device. */
import * as v from 'valibot';
import { attributesShape } from '../../../fixtures/contract/resources.ts';
import { isMap, type Members, membersOf } from '../../target/json-members.ts';
import { isSuccess, jsonOf, listOf, ownResponse, tokenOf, withJson } from '../alter.ts';
import { requestBecomes, responseBecomes, statusBecomes } from '../alterations.ts';
import type {
  Alteration,
  Defect,
  ProxiedRequest,
  ProxiedResponse,
  SendToTarget,
} from '../defect.ts';
import { requestFor } from '../requests.ts';

const patch = ['patch-attributes'] as const;
const putOnly = ['put-attributes'] as const;
export const attributeWrites = [...patch, ...putOnly] as const;

/** Matches bodies with at least one matching attribute. */
export function hasAttribute(
  appliesTo: (attribute: Members) => boolean,
): (request: ProxiedRequest) => boolean {
  return (request) => listOf(request).some((entry) => isMap(entry) && appliesTo(entry));
}

/** Changes each value before the target sees it. */
function valueBecomes(change: (value: unknown) => unknown): () => Alteration {
  return requestBecomes((request) => {
    const attributes = listOf(request);
    if (attributes.length === 0 || !attributes.every(isMap)) return request;
    const changedAttributes = attributes.map((attribute) =>
      'value' in attribute ? { ...attribute, value: change(attribute.value) } : attribute,
    );
    return withJson(request, changedAttributes);
  });
}

/** State of an alteration by attribute: the kind of its first value. */
type KnownValueKinds = Map<string, string>;

function kindOf(value: unknown): string {
  return Array.isArray(value) ? `array of ${typeof value[0]}` : typeof value;
}

/** Forwards only those attributes that match, given what the device wrote before. */
function alterByHistory(
  appliesTo: (attribute: Members, known: KnownValueKinds, method: string) => boolean,
): () => Alteration {
  return () => {
    const writers = new Map<string, KnownValueKinds>();
    return {
      request: (request) => {
        const parsed = v.safeParse(attributesShape, jsonOf(request));
        if (!parsed.success || parsed.output.length === 0) return request;
        const attributes = parsed.output;
        const kindByName = writers.get(tokenOf(request)) ?? new Map<string, string>();
        const passedAttributes = attributes.filter((one) =>
          appliesTo(one, kindByName, request.method),
        );
        for (const { name, value } of attributes) {
          if (!kindByName.has(name)) kindByName.set(name, kindOf(value));
        }
        writers.set(tokenOf(request), kindByName);
        return passedAttributes.length === attributes.length
          ? request
          : withJson(request, passedAttributes);
      },
    };
  };
}

/** Writes a device's attributes also for the device that wrote before it. */
function writesForOthers(): Alteration {
  let earlierToken = '';
  return {
    response: async (response, request, send) => {
      const isOwn = hasAttribute(({ value }) => value === 'own')(request);
      if (isOwn && earlierToken !== '') await writeAs(earlierToken, request, send);
      else if (hasAttribute(({ value }) => value === 'theirs')(request))
        earlierToken = tokenOf(request);
      return response;
    },
  };
}

async function writeAs(token: string, request: ProxiedRequest, send: SendToTarget): Promise<void> {
  await send(requestFor('put-attributes', { token, json: jsonOf(request) }));
}

function takenAll(response: ProxiedResponse): ProxiedResponse {
  return isSuccess(response) ? ownResponse(200, { ok: true }) : response;
}

const kinds: readonly Defect[] = [
  {
    id: 'number-is-kept-as-string',
    title: 'A number is kept as a string.',
    violates: ['inventory.number', 'inventory.value-kinds'],
    operations: attributeWrites,
    alter: valueBecomes((value) => (typeof value === 'number' ? String(value) : value)),
  },
  {
    id: 'number-is-kept-whole',
    title: 'Only the integer part of a number is kept.',
    violates: ['inventory.number'],
    operations: attributeWrites,
    alter: valueBecomes((value) => (typeof value === 'number' ? Math.trunc(value) : value)),
  },
  {
    id: 'string-of-digits-is-a-number',
    title: 'A string of digits is kept as a number.',
    violates: ['inventory.string', 'inventory.patch-adds', 'inventory.put-replaces'],
    operations: attributeWrites,
    alter: valueBecomes((value) =>
      typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value,
    ),
  },
  {
    id: 'array-of-numbers-is-of-strings',
    title: 'An array of numbers is kept as an array of strings.',
    violates: ['inventory.numbers', 'inventory.value-kinds', 'inventory.patch-keeps'],
    operations: attributeWrites,
    alter: valueBecomes((value) =>
      Array.isArray(value) && value.every((entry) => typeof entry === 'number')
        ? value.map(String)
        : value,
    ),
  },
  {
    id: 'array-of-strings-is-joined',
    title: 'An array of several strings is kept as one string.',
    violates: ['inventory.strings'],
    operations: attributeWrites,
    alter: valueBecomes((value) =>
      Array.isArray(value) && value.length > 1 && value.every((entry) => typeof entry === 'string')
        ? value.join()
        : value,
    ),
  },
  {
    id: 'array-of-strings-is-a-set',
    title: 'Of equal strings in an array, only the first is kept.',
    violates: ['inventory.strings'],
    operations: attributeWrites,
    alter: valueBecomes((value) =>
      Array.isArray(value) && typeof value[0] === 'string' ? [...new Set(value)] : value,
    ),
  },
  {
    id: 'array-of-numbers-is-in-order',
    title: 'The numbers of an array are kept in ascending order.',
    violates: ['inventory.numbers'],
    operations: attributeWrites,
    alter: valueBecomes((value) =>
      Array.isArray(value) && typeof value[0] === 'number'
        ? value.toSorted((one, other) => Number(one) - Number(other))
        : value,
    ),
  },
  {
    id: 'string-is-trimmed',
    title: 'Spaces at both ends of a string are removed.',
    violates: ['inventory.string'],
    operations: attributeWrites,
    alter: valueBecomes((value) => (typeof value === 'string' ? value.trim() : value)),
  },
  {
    id: 'first-value-decides-the-kind',
    title: 'An attribute keeps the type of its first value; values of other types are dropped.',
    violates: ['inventory.value-kinds', 'inventory.number', 'inventory.patch-upserts'],
    operations: attributeWrites,
    alter: alterByHistory(({ name, value }, known) => {
      const kind = known.get(String(name));
      return kind === undefined || kind === kindOf(value);
    }),
  },
];

const writing: readonly Defect[] = [
  {
    id: 'same-patch-again-is-204',
    title: 'A PATCH with the body of the one before is answered with 204.',
    violates: ['inventory.patch-is-200', 'service.equal-forms'],
    operations: patch,
    alter: () => {
      const lastBodies = new Map<string, string>();
      return {
        response: (response, request) => {
          const [token, body] = [tokenOf(request), request.body.toString()];
          const isRepeated = lastBodies.get(token) === body;
          lastBodies.set(token, body);
          return response.status === 200 && isRepeated ? ownResponse(204) : response;
        },
      };
    },
  },
  {
    id: 'patch-is-204',
    title: 'PATCH is answered with 204.',
    violates: ['inventory.patch-is-200'],
    operations: patch,
    alter: statusBecomes(200, 204),
  },
  {
    id: 'put-is-204',
    title: 'PUT is answered with 204.',
    violates: ['inventory.put-is-200'],
    operations: putOnly,
    alter: statusBecomes(200, 204),
  },
  {
    id: 'patch-has-a-body',
    title: 'The response to PATCH has a body.',
    violates: ['inventory.patch-has-no-body'],
    operations: patch,
    alter: responseBecomes(takenAll),
  },
  {
    id: 'put-has-a-body',
    title: 'The response to PUT has a body.',
    violates: ['inventory.put-has-no-body'],
    operations: putOnly,
    alter: responseBecomes(takenAll),
  },
  {
    id: 'patch-changes-nothing-known',
    title: 'PATCH does not change an attribute that exists.',
    violates: ['inventory.patch-upserts', 'inventory.value-kinds', 'service.equal-forms'],
    operations: attributeWrites,
    alter: alterByHistory(
      ({ name }, known, method) => method === 'PUT' || !known.has(String(name)),
    ),
  },
  {
    id: 'patch-adds-nothing',
    title: 'PATCH does not add an attribute that does not exist.',
    violates: [
      'inventory.patch-adds',
      'inventory.number',
      'inventory.string',
      'inventory.numbers',
      'inventory.strings',
    ],
    operations: attributeWrites,
    alter: alterByHistory(({ name }, known, method) => method === 'PUT' || known.has(String(name))),
  },
  {
    id: 'patch-replaces',
    title: 'PATCH removes the attributes that it does not name.',
    violates: ['inventory.patch-keeps'],
    operations: patch,
    alter: requestBecomes((request) =>
      listOf(request).length > 0 ? { ...request, method: 'PUT' } : request,
    ),
  },
  {
    id: 'put-upserts',
    title: 'PUT keeps the attributes that it does not name.',
    violates: ['inventory.put-replaces', 'inventory.put-replaces-descriptions'],
    operations: putOnly,
    alter: requestBecomes((request) =>
      listOf(request).length > 0 ? { ...request, method: 'PATCH' } : request,
    ),
  },
  {
    id: 'put-adds-nothing',
    title: 'PUT ignores attributes that are new.',
    violates: ['inventory.put-assigns'],
    operations: attributeWrites,
    alter: alterByHistory(
      ({ name }, known, method) =>
        method === 'PATCH' || known.size === 0 || known.has(String(name)),
    ),
  },
  {
    id: 'attributes-are-written-for-another',
    title: 'What a device writes is also written for another device.',
    violates: ['inventory.own-attributes'],
    operations: putOnly,
    alter: writesForOthers,
  },
  {
    id: 'description-is-dropped',
    title: 'The description of an attribute is not stored.',
    violates: ['inventory.description-is-kept'],
    operations: attributeWrites,
    alter: requestBecomes((request) => {
      const attributes = listOf(request);
      const areDescribed = attributes.every(
        (one) => typeof membersOf(one).description === 'string',
      );
      if (attributes.length === 0 || !areDescribed) return request;
      return withJson(
        request,
        attributes.map((one) => ({ ...membersOf(one), description: undefined })),
      );
    }),
  },
];

/** All defects of this area. */
export const inventoryDefects: readonly Defect[] = [...kinds, ...writing];
