import { describe, expect, it } from 'vitest';
import { endpoints } from '../endpoints/endpoints.ts';
import { managementEndpoints } from '../management/management.ts';
import { startPipeline } from '../testing/test-pipeline.ts';
import { mountRoutes } from './routes.ts';

const all = [...endpoints, ...managementEndpoints];

describe('mounting the operations', () => {
  it('takes every operation once', async () => {
    const { pipeline, close } = await startPipeline();
    expect(() => mountRoutes(all, pipeline)).not.toThrow();
    close();
  });

  it.each(all.map(({ operation }, index) => [operation.id, index] as const))(
    'refuses to do without %s',
    async (id, index) => {
      const { pipeline, close } = await startPipeline();
      const rest = all.toSpliced(index, 1);
      expect(() => mountRoutes(rest, pipeline)).toThrow(`operations not mounted: ${id}`);
      close();
    },
  );

  it('refuses an operation that is there twice, and names it', async () => {
    const { pipeline, close } = await startPipeline();
    const doubled = [...all, ...all.slice(3, 5)];
    const ids = doubled.slice(-2).map(({ operation }) => operation.id);
    expect(() => mountRoutes(doubled, pipeline)).toThrow(
      `operations mounted more than once: ${ids.join(', ')}`,
    );
    close();
  });

  it('refuses to mount nothing', async () => {
    const { pipeline, close } = await startPipeline();
    expect(() => mountRoutes([], pipeline)).toThrow('operations not mounted');
    close();
  });
});
