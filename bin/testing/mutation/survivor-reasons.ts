/**
 * Reasons why mutants may survive the suite, by file. A survivor is identified by its source line
 * and the replacing code, so that a changed line requires a new review.
 */
import { readFileSync } from 'node:fs';

type Survivors = readonly string[];

/** Prefix of the reason for code whose purpose the contract does not mention. */
export const beyondTheContract = 'beyond the contract: ';

const reasons: Readonly<Record<string, Readonly<Record<string, Survivors>>>> = JSON.parse(
  readFileSync('bin/testing/mutation/survivor-reasons.json', 'utf8'),
);

/** Returns the reason why this mutant of the file may survive; undefined when none is recorded. */
export function reasonOf(file: string, survivor: string): string | undefined {
  const survivorsByReason = Object.entries(reasons[file] ?? {});
  return survivorsByReason.find(([, survivors]) => survivors.includes(survivor))?.[0];
}
