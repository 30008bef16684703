import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openForLines, writeWhole, writeWholeFolder } from './files.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-files-'));
  file = join(folder, 'journal.har');
});
afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** The ID of a process that has ended. */
const gone = () => spawnSync(process.execPath, ['--version']).pid;

describe('a file that a command writes', () => {
  it.each(['whole', 'line by line'])(
    'is readable by its owner only, %s, also when it replaces another',
    async (how) => {
      writeFileSync(file, 'what was there before');
      chmodSync(file, 0o666);
      if (how === 'whole') await writeWhole(file, 'new');
      else closeSync(await openForLines('--events', file));
      expect(modeOf(file)).toBe('600');
      expect(readFileSync(file, 'utf8')).toBe(how === 'whole' ? 'new' : '');
    },
  );

  it.each(['file', 'folder'])('is refused with a sentence below a plain file: %s', async (kind) => {
    writeFileSync(file, 'no folder');
    const below = join(file, 'x');
    const written =
      kind === 'file' ? writeWhole(below, '') : writeWholeFolder('--out', below, new Map());
    const sentence = `a part of the path is not a folder; choose another ${kind}.`;
    await expect(written).rejects.toThrow(sentence);
  });

  it('removes the drafts of killed writers, and no other files', async () => {
    const left = [`${gone()}`, `${process.pid}`, `${process.pid}.00c0ffee-1`].map(
      (writer) => `journal.har.${writer}.draft`,
    );
    const otherFiles = [`journal.har.${process.ppid}.draft`, 'journal.har.draft', 'x.har.1.draft'];
    for (const name of [...left, ...otherFiles]) writeFileSync(join(folder, name), 'half');
    chmodSync(join(folder, left[1] ?? ''), 0o666);
    await writeWhole(file, 'new');
    expect(readdirSync(folder).sort()).toEqual([...otherFiles, 'journal.har'].sort());
    expect(modeOf(file)).toBe('600');
  });
});
