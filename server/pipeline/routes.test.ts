import { describe, expect, it } from 'vitest';
import { endpoints } from '../api/device/endpoints.ts';
import { managementEndpoints } from '../api/management/management.ts';
import type { Endpoint } from './endpoint.ts';
import { assertComplete } from './routes.ts';

const all = [...endpoints, ...managementEndpoints];

/** Returns the endpoint under another path. */
function movedTo(path: string, endpoint: Endpoint | undefined): Endpoint {
  if (!endpoint) throw new Error('there is no such endpoint');
  return { ...endpoint, operation: { ...endpoint.operation, path } };
}

describe('mounting the operations', () => {
  it('accepts every operation exactly once', () => {
    expect(() => assertComplete(all)).not.toThrow();
  });

  it.each(all.map(({ operation }, index) => [operation.id, index] as const))(
    'fails without %s',
    (id, index) => {
      const otherRoutes = all.toSpliced(index, 1);
      expect(() => assertComplete(otherRoutes)).toThrow(`operations not mounted: ${id}`);
    },
  );

  it('fails for a duplicate operation and names it', () => {
    const doubled = [...all, ...all.slice(3, 5)];
    const ids = doubled.slice(-2).map(({ operation }) => operation.id);
    expect(() => assertComplete(doubled)).toThrow(
      `operations mounted more than once: ${ids.join(', ')}`,
    );
  });

  it('fails for paths that differ only in parameter names, and names both', () => {
    const [one, other] = [movedTo('/a/{id}/b', all[0]), movedTo('/a/{name}/b', all[1])];
    expect(() => assertComplete([one, other, ...all.slice(2)])).toThrow(
      '/a/{name}/b differs from /a/{id}/b only in parameter names',
    );
  });

  it('fails for an empty list', () => {
    expect(() => assertComplete([])).toThrow('operations not mounted');
  });
});
