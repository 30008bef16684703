import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Licences that ask for no more than their text and a notice. */
const permissive = [
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'],
  ...['Unlicense', 'Zlib'],
];
/** Licences of tools, whose code is not part of the package: data, and changes file by file. */
const ofTools = [...permissive, 'CC0-1.0', 'CC-BY-4.0', 'MPL-2.0', 'PSF-2.0', 'Python-2.0'];

interface LockedPackage {
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

const text = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8');
const packages: Readonly<Record<string, LockedPackage>> = JSON.parse(text).packages;
const entries = Object.entries(packages).filter(([path]) => path !== '');

it('the lock file names a permissive licence for every package', () => {
  const unwanted = entries.filter(([, { license = 'none', dev, devOptional }]) => {
    const allowed = dev || devOptional ? ofTools : permissive;
    const names = license.replace(/[()]/g, '').split(/ AND | OR /);
    const isAllowed = (name: string) => allowed.includes(name);
    return !(license.includes(' AND ') ? names.every(isAllowed) : names.some(isAllowed));
  });
  expect(unwanted.map(([path, { license }]) => [path, license])).toEqual([]);
});

it('the lock file has a digest for every package, including those of other systems', () => {
  const open = entries.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity));
  expect(open.map(([path]) => path)).toEqual([]);
  expect(entries.length).toBeGreaterThan(400);
});
