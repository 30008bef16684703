/**
 * `node build/bin/dev/cases-that-cannot-fail.js [CASE...]`: searches for cases of the suite that pass whatever
 * the server answers, and prints their IDs. The exit code is 1 if there is one.
 */
import { listCases } from '../../conformance/conformance.ts';
import { findCasesThatCannotFail } from '../../conformance/self-test/cases-that-cannot-fail.ts';
import { wrongResponses } from '../../conformance/self-test/wrong-responses.ts';
import { selfTestOn } from '../commands/conform/self-test/good-targets.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const selection = process.argv.slice(2);
const { cases, cannotFail } = await findCasesThatCannotFail({
  ...selfTestOn('own'),
  wrongs: wrongResponses,
  ids: new Set(listCases(selection).map(({ id }) => id)),
  onWrong: ({ title }, left) => say(`${left} cases have not failed yet after: ${title}`),
});
for (const id of cannotFail) say(`cannot fail: ${id}`);
say(
  `${cases} judging cases played with ${wrongResponses.length} wrong responses: ${cannotFail.length} cannot fail`,
);
process.exitCode = cannotFail.length > 0 ? 1 : 0;
