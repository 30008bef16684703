/**
 * Why a mutant may survive the suite, by file. A survivor is named by the line where it begins and by
 * what takes the place of its code, so that a changed line has to be looked at again.
 */
import { readFileSync } from 'node:fs';

type Survivors = readonly string[];

/** How the reason begins where the contract says nothing of what the code is for. */
export const beyondTheContract = 'beyond the contract: ';

const reasons: Readonly<Record<string, Readonly<Record<string, Survivors>>>> = JSON.parse(
  readFileSync('bin/testing/mutation/survivor-reasons.json', 'utf8'),
);

/** The reason why this mutant of the file may survive; undefined if none is recorded. */
export function reasonOf(file: string, survivor: string): string | undefined {
  const of = Object.entries(reasons[file] ?? {});
  return of.find(([, survivors]) => survivors.includes(survivor))?.[0];
}
