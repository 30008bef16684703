/** `fleetbed conform --coverage`: which requirement of the contract is decided by what. */
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
 * Prints the map; fails when a requirement is answered for by nothing.
 * @param form what was given after the option; true when nothing was
 */
export function printCoverage(form: string | true): ExitCode {
  const render = renderings[form === true ? 'table' : form];
  if (!render) {
    const accepted = Object.keys(renderings).join(', ');
    throw new CommandError(
      `--coverage ${form} is not supported. Accepted: ${accepted}.`,
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
