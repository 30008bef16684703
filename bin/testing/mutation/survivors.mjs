/**
 * Prints the score of the last mutation run, and the reason for each surviving mutant. Exits with 1
 * when the score is too low or a survivor has no reason. `npm run mutation` runs it last.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { reasons } from './survivor-reasons.mjs';

const reportFile = fileURLToPath(
  new URL('../../../.fleetbed/mutation/report.json', import.meta.url),
);

const SCORE_LEAST = 85;

const { files, testFiles } = JSON.parse(readFileSync(reportFile, 'utf8'));
const mutants = Object.entries(files).flatMap(([file, { source, mutants: of }]) => {
  const lines = source.split('\n');
  return of.map((mutant) => ({
    ...mutant,
    file,
    code: lines[mutant.location.start.line - 1].trim(),
  }));
});
const tests = Object.values(testFiles).flatMap((file) => file.tests);
const testNames = new Map(tests.map(({ id, name }) => [id, name]));
const ofStatus = (...statuses) => mutants.filter(({ status }) => statuses.includes(status));
const caught = ofStatus('Killed', 'Timeout');
const survived = ofStatus('Survived', 'NoCoverage');
let unexplained = 0;

for (const { file, code, location, mutatorName, replacement } of survived) {
  const reason = reasons.find((row) => file.endsWith(row.file) && code.includes(row.code));
  if (!reason) unexplained++;
  const change = `${mutatorName}: ${code} => ${replacement.split('\n')[0]}`;
  print(`${file}:${location.start.line} ${change}\n    ${reason?.because ?? 'NO REASON GIVEN'}`);
}
const judged = caught.length + survived.length;
const score = (100 * caught.length) / judged;
print(
  `${caught.length} of ${judged} mutants caught: ${score.toFixed(1)} % (at least ${SCORE_LEAST})`,
);
print(`${survived.length} survived, ${unexplained} of them without a reason`);
for (const [by, count] of countedBy(caught, catcherOf)) print(`${count} caught by ${by}`);
const leftOpen = ofStatus('Ignored');
for (const [reason, count] of countedBy(leftOpen, ({ statusReason }) => statusReason)) {
  print(`${count} not made, ${reason}`);
}
process.exitCode = unexplained === 0 && score >= SCORE_LEAST ? 0 : 1;

/**
 * Returns what caught a mutant: a timeout, or the kind of test, as named by `suite-as-killer.ts`.
 */
function catcherOf({ status, killedBy = [] }) {
  if (status === 'Timeout') return 'a time-out';
  const [name] = killedBy.map((id) => testNames.get(id));
  if (name === undefined) return 'a test of an earlier run';
  if (!name.startsWith('a server of the contract')) return 'what differs with our variants';
  return name.endsWith('open points') ? 'what is observed of open points' : 'a verdict';
}

/** Counts the mutants of each kind. */
function countedBy(some, kindOf) {
  const counts = new Map();
  for (const mutant of some) counts.set(kindOf(mutant), (counts.get(kindOf(mutant)) ?? 0) + 1);
  return counts;
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
