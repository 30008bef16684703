/** `fleetbed conform --coverage`: prints which cases decide each requirement of the contract. */
import { listCases } from '../../../conformance/conformance.ts';
import { coverageCsv, coverageHtml, coverageText } from '../../../conformance/report/coverage.ts';
import { type Coverage, coverageOf } from '../../../conformance/result/coverage.ts';
import { CommandError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';

const renderings: Readonly<Record<string, (coverage: Coverage) => string>> = {
  table: (coverage) => `${coverageText(coverage)}\n`,
  json: (coverage) => `${JSON.stringify(coverage, null, 2)}\n`,
  csv: coverageCsv,
  html: coverageHtml,
};

/**
 * Prints the coverage map. Returns the exit code "failed" when a requirement is unaccounted for.
 * @param format the value of `--coverage`, or true when the option has no value
 */
export function printCoverage(format: string | true): ExitCode {
  const render = renderings[format === true ? 'table' : format];
  if (!render) {
    const formats = Object.keys(renderings).join(', ');
    throw new CommandError(
      `--coverage ${format} is not supported. Accepted: ${formats}.`,
      exitCodes.usage,
    );
  }
  const coverage = coverageOf(listCases());
  process.stdout.write(render(coverage));
  const { unaccounted } = coverage;
  if (unaccounted.length === 0) return exitCodes.pass;
  process.stderr.write(`unaccounted: ${unaccounted.join(', ')}\n`);
  return exitCodes.failed;
}
