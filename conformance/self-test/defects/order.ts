/** Defects that need a sequence of steps, or a body that clients do not send by chance. */
import { entriesOf, isMap, membersOf } from '../../target/json-members.ts';
import { jsonOf, tokenOf, withJson } from '../alter.ts';
import { requestBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedOperation } from '../defect.ts';

/** Lets the first PATCH of attributes after a PUT by the same device replace all attributes. */
function patchReplacesAfterPut(): Alteration {
  const putters = new Set<string>();
  return {
    request: (request) => {
      const token = tokenOf(request);
      if (request.operation === 'put-attributes') {
        putters.add(token);
        return request;
      }
      return putters.delete(token) ? { ...request, method: 'PUT' } : request;
    },
  };
}

/**
 * Replaces, after one operation, the next valid body of the same device for another one with
 * `empty`.
 */
function lostAfter(
  firstOperation: ProxiedOperation,
  isValid: (body: unknown) => boolean,
  empty: unknown,
): () => Alteration {
  return () => {
    const dueTokens = new Set<string>();
    return {
      request: (request) => {
        const token = tokenOf(request);
        if (request.operation === firstOperation) {
          dueTokens.add(token);
          return request;
        }
        const isLost = isValid(jsonOf(request)) && dueTokens.delete(token);
        return isLost ? withJson(request, empty) : request;
      },
    };
  };
}

function isPairs(body: unknown): boolean {
  return isMap(body) && Object.values(body).every((value) => typeof value === 'string');
}

function isAttributes(body: unknown): boolean {
  const isPlain = (value: unknown): boolean => ['number', 'string'].includes(typeof value);
  const isOfOneKind = (value: unknown): boolean =>
    Array.isArray(value) && value.every((each) => isPlain(each) && typeof each === typeof value[0]);
  return entriesOf(body).every((entry) => {
    const { value } = membersOf(entry);
    return isPlain(value) || isOfOneKind(value);
  });
}

/** Treats a body that is not JSON as an empty object. */
const unreadIsEmpty = requestBecomes(
  (request) => {
    try {
      JSON.parse(request.body.toString('utf8'));
      return request;
    } catch {
      return { ...request, body: Buffer.from('{}') };
    }
  },
  ({ body }) => body.length > 0,
);

/** All defects of sequences and of hostile bodies. */
export const orderDefects: readonly Defect[] = [
  {
    id: 'patch-after-put-replaces',
    title: 'The first PATCH of attributes after a PUT replaces them all.',
    violates: ['inventory.patch-upserts', 'inventory.patch-keeps'],
    operations: ['put-attributes', 'patch-attributes'],
    alter: patchReplacesAfterPut,
  },
  {
    id: 'configuration-after-attributes-is-lost',
    title: 'The first configuration that a device writes after a PATCH of attributes is lost.',
    violates: ['configuration.written-is-read', 'configuration.update', 'service.equal-forms'],
    operations: ['patch-attributes', 'put-configuration'],
    alter: lostAfter('patch-attributes', isPairs, {}),
  },
  {
    id: 'attributes-after-configuration-are-lost',
    title: 'The first PATCH of attributes after a device has written its configuration is lost.',
    violates: ['inventory.patch-upserts', 'inventory.patch-adds'],
    operations: ['put-configuration', 'patch-attributes'],
    alter: lostAfter('put-configuration', isAttributes, []),
  },
  {
    id: 'broken-configuration-is-taken-for-an-empty-one',
    title: 'A configuration that cannot be read is treated as an empty one.',
    violates: ['configuration.malformed-is-400'],
    operations: ['put-configuration'],
    alter: unreadIsEmpty,
  },
];
