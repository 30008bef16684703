/** Writes the repro scripts of failed cases, so that reports can name one command for each. */
import { mkdtempSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConformanceResult } from '../../../conformance/conformance.ts';
import { makeFolder } from '../../../fixtures/base/make-folder.ts';
import { fileError, writeWhole } from '../../output/files.ts';

/** Creates the folder of `--scripts` before the run starts. @throws CommandError */
export async function prepareScripts(folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  try {
    makeFolder(folder, 0o700);
    await access(folder, constants.W_OK);
  } catch (error) {
    throw fileError(`--scripts cannot use ${folder}`, error);
  }
}

/**
 * Writes the scripts to the folder; without one, to a new folder in the system's temporary folder.
 * @returns the files by case ID
 * @throws CommandError when a file cannot be written
 */
export async function writeScripts(
  { verdicts, runId }: ConformanceResult,
  folder: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  let location = folder;
  for (const { id, verdict, reproScript } of verdicts) {
    if (verdict !== 'fail' || reproScript === undefined) continue;
    location ??= mkdtempSync(join(tmpdir(), `fleetbed-repro-${runId}-`));
    const file = join(location, `${id.replaceAll('/', '.')}.sh`);
    await writeWhole(file, `${reproScript}\n`);
    files.set(id, file);
  }
  return files;
}
