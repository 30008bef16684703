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
        neighbour: 'alerts.are-shown',
        sentence: 'Alerts of one request are shown in the order in which they were sent.',
      });
      const [requirement, ...otherFiles] = rows;
      for (const { path, text } of otherFiles) copy.write(path, text);
      const paths = otherFiles.map(({ path }) => path);
      expect(await copy.errorsIn(paths)).toMatch(
        /cases\/monitor\/monitor\.ts.*alerts\.keep-their-order.*\n.*defects\/monitor\.ts.*alerts\.keep-their-order/s,
      );
      if (requirement) copy.write(requirement.path, requirement.text);
      expect(await copy.errorsIn(paths)).toBe('');
    },
    CHECK_MAX_MS,
  );
});
