import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('the lock file has a digest for every package, including those of other systems', () => {
  const text = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8');
  const packages: Readonly<Record<string, { integrity?: string }>> = JSON.parse(text).packages;
  const entries = Object.entries(packages).filter(([path]) => path !== '');
  const open = entries.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity));
  expect(open.map(([path]) => path)).toEqual([]);
  expect(entries.length).toBeGreaterThan(400);
});
