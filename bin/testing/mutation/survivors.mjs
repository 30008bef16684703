/**
 * Tells the score of the last mutation run, and of each mutant that survived it why. Ends with 1 when
 * the score is too low or a survivor has no reason. `npm run mutation` runs it last.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { reasons } from './survivor-reasons.mjs';

const reportFile = fileURLToPath(
  new URL('../../../.fleetbed/mutation/report.json', import.meta.url),
);

const SCORE_LEAST = 85;

const { files } = JSON.parse(readFileSync(reportFile, 'utf8'));
const mutants = Object.entries(files).flatMap(([file, { source, mutants: of }]) => {
  const lines = source.split('\n');
  return of.map((mutant) => ({
    ...mutant,
    file,
    code: lines[mutant.location.start.line - 1].trim(),
  }));
});
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
for (const [reason, count] of leftOpen()) print(`${count} not made, ${reason}`);
process.exitCode = unexplained === 0 && score >= SCORE_LEAST ? 0 : 1;

/** How many mutants were not made, by reason. */
function leftOpen() {
  const counts = new Map();
  for (const { statusReason } of ofStatus('Ignored')) {
    counts.set(statusReason, (counts.get(statusReason) ?? 0) + 1);
  }
  return counts;
}

function print(line) {
  process.stdout.write(`${line}\n`);
}
