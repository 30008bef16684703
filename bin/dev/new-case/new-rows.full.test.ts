import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CopiedSources, copySources } from '../../testing/copied-sources.ts';
import { newRows } from './new-rows.ts';

const CHECK_MAX_MS = 120_000;

let copy: CopiedSources;

beforeEach(() => {
  copy = copySources(['fixtures', 'conformance']);
});

afterEach(() => copy.remove());

describe('a new case with a new requirement', () => {
  it(
    'compiles with the tables of its area, which contain its requirement',
    async () => {
      const rows = newRows(copy.folder, {
        id: 'monitor/alerts-keep-their-order',
        requirement: 'alerts.keep-their-order',
        after: 'alerts.are-shown',
        sentence: 'Alerts of one request are shown in the order in which they were sent.',
      });
      const [requirement, ...others] = rows;
      for (const { path, text } of others) copy.write(path, text);
      const paths = others.map(({ path }) => path);
      expect(await copy.errorsIn(paths)).toMatch(
        /cases\/monitor\/monitor\.ts.*alerts\.keep-their-order.*\n.*defects\/monitor\.ts.*alerts\.keep-their-order/s,
      );
      if (requirement) copy.write(requirement.path, requirement.text);
      expect(await copy.errorsIn(paths)).toBe('');
    },
    CHECK_MAX_MS,
  );
});
