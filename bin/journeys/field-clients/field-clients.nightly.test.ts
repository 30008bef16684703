import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runClientTestCommand } from '../../client-test/testing/tested-client.ts';

const guide = fileURLToPath(new URL('../../../conformance/guide.md', import.meta.url));
const client = fileURLToPath(
  new URL('../../../build/bin/journeys/field-clients/testing/client-command.js', import.meta.url),
);

/** Returns the duties in the table of the guide's section on released clients. */
function listedDuties(): readonly string[] {
  const [, section = ''] = readFileSync(guide, 'utf8').split('\n### Released clients\n');
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/^\| `([\w.-]+)`/gm)].map(([, duty = '']) => duty);
}

it("Debian's mender-client and mender-connect break the duties that the guide lists, and no other", {
  timeout: 1_500_000,
}, async () => {
  const command = `'${process.execPath}' '${client}' {server} {ca} {dir}`;
  const options = ['--header-prefix', 'X-MEN', '--capability', 'websocket', '--cuts'];
  const { broken, testResult, stderr } = await runClientTestCommand(command, options);
  const names = broken.map((each) => each.split(' ')[0]);
  expect(names.toSorted(), `${broken.join('\n')}\n${stderr}`).toEqual(listedDuties().toSorted());
  expect(
    testResult.cuts.filter(
      ({ reportedFalseSuccess, sentRequestAgain }) => reportedFalseSuccess || !sentRequestAgain,
    ),
  ).toEqual([]);
});
