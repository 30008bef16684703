import { describe, expect, it } from 'vitest';
import type { Coverage } from '../../../conformance/result/coverage.ts';
import { requirements } from '../../../fixtures/contract/requirements/index.ts';
import { runCommand } from '../../testing/built-command.ts';

const ids = Object.keys(requirements);
const coverage = (...args: string[]) => runCommand(['conform', ...args]);

describe('fleetbed conform --coverage', () => {
  it.each([['--coverage'], ['--coverage=table'], ['--coverage=csv'], ['--coverage=html']])(
    'prints every requirement with %s, and reports none as unaccounted',
    async (word) => {
      const { code, stdout, stderr } = await coverage(word);
      expect(stderr).toBe('');
      expect(code).toBe(0);
      expect(ids.filter((id) => !stdout.includes(id))).toEqual([]);
    },
  );

  it('prints the whole coverage as JSON with --coverage=json', async () => {
    const { code, stdout } = await coverage('--coverage=json');
    expect(code).toBe(0);
    const { rows, unaccounted } = JSON.parse(stdout) as Coverage;
    expect(unaccounted).toEqual([]);
    expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  });

  it('lists the valid formats when another one is requested', async () => {
    const { code, stdout, stderr } = await coverage('--coverage=pdf');
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('Accepted: table, json, csv, html.');
  });
});
