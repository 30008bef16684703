/**
 * `npm run mutation`: mutates each file of the device API and of the rules that changed since its
 * row in `result.json` was recorded, or the named files, and records which mutants the suite
 * detects. Prints the score and the reason why each survivor may survive; exits with 1 when a
 * reason is missing. `-- --age` only prints how many rows are outdated.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import {
  contractScoreText,
  type MutantCounts,
  mutatedFiles,
  readResult,
  recordRows,
  scoreOf,
  scoreText,
  sha256Of,
} from './result.ts';
import { reasonOf } from './survivor-reasons.ts';

type MutantResult = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

const outcomes = {
  Timeout: 'worse',
  Survived: 'survived',
  NoCoverage: 'unreached',
  Ignored: 'notMade',
} as const;

const recordedResult = readResult();
const changedFiles = mutatedFiles().filter(
  (file) => recordedResult[file]?.sha256 !== sha256Of(file),
);
const operands = process.argv.slice(2);
if (operands[0] === '--age') {
  const all = mutatedFiles().length;
  printLine(`mutants of ${all - changedFiles.length} of ${all} files match the present code`);
  for (const file of changedFiles) printLine(`changed since its mutants ran: ${file}`);
} else {
  const due = operands.length > 0 ? operands : changedFiles;
  if (due.length > 0) await mutate(due);
  process.exitCode = progressOf() ? 0 : 1;
}

async function mutate(files: readonly string[]): Promise<void> {
  const configFile = 'bin/testing/mutation/stryker.config.mjs';
  const mutants = await new Stryker({ configFile, mutate: [...files] }).runMutationTest();
  const rows = files.map((file) => {
    const mutantsOfFile = mutants.filter(({ fileName }) => resolve(fileName) === resolve(file));
    return [file, rowOf(file, mutantsOfFile)];
  });
  recordRows(Object.fromEntries(rows));
}

function rowOf(file: string, mutants: readonly MutantResult[]): MutantCounts {
  const lines = readFileSync(file, 'utf8').split('\n');
  const row = { worse: 0, observed: 0, survived: 0, unreached: 0, notMade: 0 };
  for (const mutant of mutants) row[outcomeOf(mutant)]++;
  const survivors = mutants
    .filter(({ status }) => status === 'Survived')
    .map(({ location, replacement = '' }) => {
      const line = lines[location.start.line - 1] ?? '';
      return `${line.trim()} => ${replacement.split('\n')[0]}`;
    });
  return { sha256: sha256Of(file), ...row, survivors: [...new Set(survivors)].sort() };
}

type MutantOutcome = Exclude<keyof MutantCounts, 'sha256' | 'survivors'>;

function outcomeOf({ status, statusReason = '' }: MutantResult): MutantOutcome {
  // The suite runner prefixes the reason with the kind of change.
  if (status === 'Killed') {
    return /^(regression|undecided-now):/.test(statusReason) ? 'worse' : 'observed';
  }
  const outcome = new Map<string, MutantOutcome>(Object.entries(outcomes)).get(status);
  if (outcome === undefined) throw new Error(`a mutant ended as ${status}: ${statusReason}`);
  return outcome;
}

/** Prints the survivors and the score. Returns true when every survivor has a reason. */
function progressOf(): boolean {
  const result = readResult();
  let unexplained = 0;
  for (const [file, { survivors, unreached }] of Object.entries(result)) {
    for (const survivor of survivors) {
      const reason = reasonOf(file, survivor);
      if (reason === undefined) unexplained++;
      printLine(`${file}: ${survivor}\n    ${reason ?? 'NO REASON GIVEN'}`);
    }
    if (unreached > 0) printLine(`${file}: ${unreached} are not reached by any case`);
  }
  const { observed, survived, unreached, notMade } = scoreOf(result);
  printLine(`mutants with a worse verdict: ${scoreText(result)}`);
  printLine(
    `without survivors beyond the contract, in what answers devices: ${contractScoreText(result)}`,
  );
  printLine(`${observed} only change what is observed of open points; ${survived} survive,`);
  printLine(
    `${unexplained} of them without a reason; ${unreached} are not reached; ${notMade} not made`,
  );
  return unexplained === 0;
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
