/** Planted defects that take an order of steps, or a body that nobody sends by chance. */
import { tokenOf } from '../alter.ts';
import type { Defect, Plant } from '../defect.ts';
import { requestBecomes } from '../plants.ts';

/** After a PUT of attributes the next PATCH of the same device replaces them too. */
function patchReplacesAfterPut(): Plant {
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

/** A body that is no JSON is taken for an empty object. */
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

/** Planted defects of orders and of hostile bodies. */
export const orderDefects: readonly Defect[] = [
  {
    id: 'patch-after-put-replaces',
    title: 'The first PATCH of attributes after a PUT replaces them all.',
    breaks: ['inventory.patch-upserts', 'inventory.patch-keeps'],
    operations: ['put-attributes', 'patch-attributes'],
    plant: patchReplacesAfterPut,
  },
  {
    id: 'broken-configuration-is-taken-for-an-empty-one',
    title: 'A configuration that cannot be read is taken for an empty one.',
    breaks: ['configuration.malformed-is-400'],
    operations: ['put-configuration'],
    plant: unreadIsEmpty,
  },
];
