import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { enterableFolder } from './enterable-folder.ts';

const base = mkdtempSync(join(tmpdir(), 'fleetbed-enterable-'));
const [closed, open] = [join(base, 'closed'), join(base, 'open')];
const within = join(closed, 'within');
for (const folder of [closed, open, within]) mkdirSync(folder);
chmodSync(base, 0o711);
chmodSync(open, 0o711);
chmodSync(closed, 0o700);

afterAll(() => rmSync(base, { recursive: true }));

it.each([
  ['a private folder', closed],
  ['an open folder within a private one', within],
  ['a folder that is not there', join(base, 'none')],
])('the temporary folder of tests is not %s if another folder can be entered', (_, folder) => {
  expect(enterableFolder([folder, open])).toBe(open);
});

it('the temporary folder of tests is the given one if no folder can be entered', () => {
  expect(enterableFolder([closed, within])).toBe(closed);
});
