/** Defects in the names, values and descriptions of attributes over several writes. */
import { entriesOf, isMap, type Members, membersOf } from '../../target/json-members.ts';
import { isSuccess, jsonOf, listOf, objectOf, tokenOf, withJson } from '../alter.ts';
import { requestBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, SendToTarget } from '../defect.ts';
import { callerOf } from '../own-deployment.ts';
import { requestFor } from '../requests.ts';

const patch = ['patch-attributes'] as const;
const attributeWrites = ['patch-attributes', 'put-attributes'] as const;

/** Changes each attribute of a valid list before the target sees it; undefined drops one. */
function attributeBecomes(
  change: (attribute: Members, request: ProxiedRequest) => Members | undefined,
): () => Alteration {
  return requestBecomes((request) => {
    const attributes = listOf(request);
    const isValid = (each: unknown) => isMap(each) && 'value' in each && 'name' in each;
    if (attributes.length === 0 || !attributes.every(isValid)) return request;
    const changedAttributes = attributes.map((each) => change(membersOf(each), request));
    return withJson(
      request,
      changedAttributes.filter((each) => each !== undefined),
    );
  });
}

function nameBecomes(change: (name: string) => string): () => Alteration {
  return attributeBecomes(({ name, ...others }) => ({
    ...others,
    name: typeof name === 'string' ? change(name) : name,
  }));
}

function valueBecomes(change: (value: unknown) => unknown): () => Alteration {
  return attributeBecomes(({ value, ...others }) => ({ ...others, value: change(value) }));
}

/** Writes the attributes of a device that PATCH did not name again, without their descriptions. */
async function loseDescriptions(request: ProxiedRequest, send: SendToTarget): Promise<void> {
  const token = tokenOf(request);
  const requestParts = { parameters: { id: callerOf(request) }, token: send.userToken };
  const { attributes } = objectOf(await send(requestFor('get-inventory', requestParts)));
  const writtenNames = listOf(request).map((each) => membersOf(each).name);
  const keptAttributes = entriesOf(attributes)
    .map(membersOf)
    .filter(({ scope }) => scope === 'inventory')
    .map(({ name, value, description }) =>
      writtenNames.includes(name) ? { name, value, description } : { name, value },
    );
  await send(requestFor('put-attributes', { token, json: keptAttributes }));
}

/** Spec: Device inventory; Attribute (inventory) */
export const inventoryMergingDefects: readonly Defect[] = [
  {
    id: 'attribute-names-are-trimmed',
    title: 'Spaces at the end of the name of an attribute are removed.',
    violates: ['inventory.put-assigns', 'inventory.put-replaces'],
    operations: attributeWrites,
    alter: nameBecomes((name) => name.trim()),
  },
  {
    id: 'attribute-names-are-cut',
    title: 'Only the first 128 characters of the name of an attribute are kept.',
    violates: ['inventory.put-assigns', 'inventory.put-replaces'],
    operations: attributeWrites,
    alter: nameBecomes((name) => (name.length <= 256 ? name.slice(0, 128) : name)),
  },
  {
    id: 'dots-in-attribute-names-are-lost',
    title: 'Dots in the name of an attribute are kept as underscores.',
    violates: ['inventory.put-assigns', 'inventory.put-replaces'],
    operations: attributeWrites,
    alter: nameBecomes((name) => name.replaceAll('.', '_')),
  },
  {
    id: 'attributes-with-a-dollar-are-dropped',
    title: 'An attribute whose name begins with a dollar is not kept.',
    violates: ['inventory.put-replaces', 'inventory.put-assigns'],
    operations: attributeWrites,
    alter: attributeBecomes((attribute) =>
      String(attribute.name).startsWith('$') ? undefined : attribute,
    ),
  },
  {
    id: 'attribute-strings-are-normalized',
    title: 'Letters of a string value are composed, so that other bytes are shown.',
    violates: ['inventory.string', 'inventory.strings'],
    operations: attributeWrites,
    alter: valueBecomes((value) => JSON.parse(JSON.stringify(value).normalize('NFC'))),
  },
  {
    id: 'attribute-lists-have-twenty-entries',
    title: 'Of a long array, only the first twenty values are kept.',
    violates: ['inventory.numbers', 'inventory.strings'],
    operations: attributeWrites,
    alter: valueBecomes((value) => (Array.isArray(value) ? value.slice(0, 20) : value)),
  },
  {
    id: 'numbers-have-single-precision',
    title: 'A number is kept with single precision.',
    violates: ['inventory.number', 'inventory.numbers'],
    operations: attributeWrites,
    alter: valueBecomes((value) => (typeof value === 'number' ? Math.fround(value) : value)),
  },
  {
    id: 'line-ends-in-attributes-are-changed',
    title: 'A line end of two characters in a value is kept as one character.',
    violates: ['inventory.string'],
    operations: attributeWrites,
    alter: valueBecomes((value) =>
      typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value,
    ),
  },
  {
    id: 'long-descriptions-are-cut',
    title: 'Only the first 100 characters of a description are kept.',
    violates: ['inventory.description-is-kept'],
    operations: attributeWrites,
    alter: attributeBecomes(({ description, ...others }) =>
      typeof description === 'string'
        ? { ...others, description: description.slice(0, 100) }
        : { ...others, ...(description !== undefined && { description }) },
    ),
  },
  {
    id: 'patch-loses-other-descriptions',
    title: 'PATCH removes the descriptions of the attributes that it does not name.',
    violates: ['inventory.patch-keeps'],
    operations: patch,
    alter: () => ({
      response: async (response, request, send) => {
        if (isSuccess(response)) await loseDescriptions(request, send);
        return response;
      },
    }),
  },
  {
    id: 'removed-attribute-keeps-its-description',
    title: 'An attribute that PUT removed gets its old description back when PATCH adds it again.',
    violates: ['inventory.put-replaces-descriptions', 'inventory.put-replaces'],
    operations: attributeWrites,
    alter: () => {
      const descriptions = new Map<string, unknown>();
      const withEarlierValue = (attribute: Members, request: ProxiedRequest): Members => {
        const key = `${tokenOf(request)} ${attribute.name}`;
        if (attribute.description !== undefined) descriptions.set(key, attribute.description);
        const isOpen = request.method === 'PATCH' && descriptions.has(key);
        return isOpen ? { description: descriptions.get(key), ...attribute } : attribute;
      };
      return attributeBecomes(withEarlierValue)();
    },
  },
  {
    id: 'put-merges-many-attributes',
    title: 'PUT of more than four attributes keeps those that it does not name.',
    violates: ['inventory.put-replaces', 'inventory.put-replaces-descriptions'],
    operations: ['put-attributes'],
    alter: requestBecomes((request) => {
      const writtenAttributes = jsonOf(request);
      return Array.isArray(writtenAttributes) && writtenAttributes.length > 4
        ? { ...request, method: 'PATCH' }
        : request;
    }),
  },
  {
    id: 'numeral-does-not-replace-its-number',
    title: 'PATCH does not write a value that has the text of the present one.',
    violates: ['inventory.patch-upserts'],
    operations: attributeWrites,
    alter: () => {
      const lastValues = new Map<string, unknown>();
      const keyOf = (request: ProxiedRequest, { name }: Members) => `${callerOf(request)} ${name}`;
      return {
        request: (request) => {
          const attributes = listOf(request).map(membersOf);
          const isPatch = request.operation === 'patch-attributes';
          const keptAttributes = attributes.filter((each) => {
            const key = keyOf(request, each);
            const isSame =
              isPatch && lastValues.has(key) && String(lastValues.get(key)) === String(each.value);
            const isOther = isSame && typeof lastValues.get(key) !== typeof each.value;
            if (!isOther) lastValues.set(key, each.value);
            return !isOther;
          });
          return keptAttributes.length === attributes.length
            ? request
            : withJson(request, keptAttributes);
        },
      };
    },
  },
];
