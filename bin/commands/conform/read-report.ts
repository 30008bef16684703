/**
 * Reads the report file that a subcommand receives as an argument, or refuses it in one sentence.
 */
import { ReportError, readReport, type StoredResult } from '../../../conformance/result/schema.ts';
import { CommandError } from '../../output/command-error.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { readNamedFile } from '../../output/files.ts';

/**
 * Reads a report.
 * @param name the argument that names the file, such as `REPORT`
 * @throws CommandError
 */
export async function readReportFile(name: string, path: string): Promise<StoredResult> {
  const json = await readNamedFile(name, path);
  try {
    return readReport(json);
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
    const remedy = 'give a file written by conform --report json=FILE';
    throw new CommandError(`${name}: ${path} ${error.message}; ${remedy}.`, exitCodes.setUp, error);
  }
}
