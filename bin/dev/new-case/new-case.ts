/**
 * `npm run new:case AREA/NAME REQUIREMENT [AFTER SENTENCE]`: adds the rows of a new case of the suite,
 * and prints the next steps.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { NewCaseError, newRows } from './new-rows.ts';

const [id = '', requirement = '', neighbour, sentence] = process.argv.slice(2);
try {
  const files = newRows('.', { id, requirement, neighbour, sentence });
  for (const { path, text } of files) writeFileSync(path, text);
  const paths = files.map(({ path }) => path);
  spawnSync('npx', ['biome', 'check', '--write', ...paths], { stdio: 'inherit' });
  process.stdout.write(
    [
      ...paths.map((path) => `added a row to ${path}`),
      'next:',
      '  1. write the case: arrange a start state, act once, expect; move the case to a fitting scenario',
      `  2. write the defect that breaks ${requirement} (conformance/self-test/defects), unless there is one`,
      '  3. npx vitest run --project quick conformance/cases',
      `  4. npm run build && npx fleetbed conform ${id}`,
      '  5. npm run self-test, and commit conformance/self-test/result.ndjson',
      '',
    ].join('\n'),
  );
} catch (error) {
  if (!(error instanceof NewCaseError)) throw error;
  const usage = 'npm run new:case AREA/NAME REQUIREMENT [AFTER SENTENCE]';
  process.stderr.write(`new:case: ${error.message}\nusage: ${usage}\n`);
  process.exitCode = 2;
}
