/** A report file that a subcommand is given: read, or refused in one sentence. */
import { type Report, ReportFault, readReport } from '../../../conformance/result/schema.ts';
import { exitCodes } from '../../output/exit-codes.ts';
import { CommandFault } from '../../output/fault.ts';
import { readNamedFile } from '../../output/files.ts';

/** @param name what the file is to the command, such as `REPORT` @throws CommandFault */
export async function readReportFile(name: string, path: string): Promise<Report> {
  const json = await readNamedFile(name, path);
  try {
    return readReport(json);
  } catch (error) {
    if (!(error instanceof ReportFault)) throw error;
    const wanted = 'give a file written by conform --report json=FILE';
    throw new CommandFault(`${name}: ${path} ${error.message}; ${wanted}.`, exitCodes.setUp, error);
  }
}
