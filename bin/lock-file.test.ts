import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

/** What the project is built and tested on. */
const systems = [
  { os: 'linux', cpu: 'x64', libc: 'glibc' },
  { os: 'linux', cpu: 'arm64', libc: 'glibc' },
] as const;

/** Whether npm would install it there at all. */
const isForUs = (entry: Locked) =>
  entry.optional !== true ||
  systems.some((system) =>
    (['os', 'cpu', 'libc'] as const).every((key) => entry[key]?.includes(system[key]) ?? true),
  );

it('locks every package that we install by its digest', () => {
  const text = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8');
  const packages: Readonly<Record<string, Locked>> = JSON.parse(text).packages;
  const entries = Object.entries(packages).filter(([path]) => path !== '');
  const open = entries.filter(
    ([, entry]) => isForUs(entry) && !/^sha512-[\w+/]{86}==$/.test(entry.integrity ?? ''),
  );
  expect(open.map(([path]) => path)).toEqual([]);
  expect(entries.filter(([, entry]) => isForUs(entry)).length).toBeGreaterThan(400);
});
