/** `npm run new:case AREA/NAME REQUIREMENT`: writes a new case of the suite, and says what is next. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { listFile, NewCaseError, newCase } from './skeleton.ts';

const [id = '', requirement = ''] = process.argv.slice(2);
try {
  const { file, text, list } = newCase(id, requirement, readFileSync(listFile, 'utf8'));
  if (existsSync(file)) throw new NewCaseError(`${file} is there already`);
  writeFileSync(file, text);
  writeFileSync(listFile, list);
  // The formatter puts the new import into its place.
  spawnSync('npx', ['biome', 'check', '--write', file, listFile], { stdio: 'inherit' });
  process.stdout.write(
    [
      `wrote ${file} and listed it in ${listFile}; next:`,
      '  1. write the case: arrange a start state, act once, expect',
      `  2. plant a defect that breaks ${requirement} in conformance/self-test/defects, if none does`,
      '  3. npx vitest run --project quick conformance/cases',
      `  4. npm run build && npx fleetbed conform ${id}`,
      '  5. npm run self-test, and commit conformance/self-test/result.ndjson',
      '',
    ].join('\n'),
  );
} catch (fault) {
  if (!(fault instanceof NewCaseError)) throw fault;
  process.stderr.write(
    `new:case: ${fault.message}\nusage: npm run new:case AREA/NAME REQUIREMENT\n`,
  );
  process.exitCode = 2;
}
