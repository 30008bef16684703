/** Reads fault plans from files, and formats the warning about planned faults that never fired. */
import { countText } from '../../fixtures/base/count-text.ts';
import type { UnfiredFault } from '../../server/faults/fault-plans.ts';
import { readPlan } from '../../server/faults/plan-text.ts';
import type { FaultRule } from '../../server/faults/rule.ts';
import { CommandError } from '../output/command-error.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { readNamedFile } from '../output/files.ts';

/** Returns a line for each planned fault that never fired. */
export function unfiredLines(unfired: readonly UnfiredFault[]): string[] {
  return unfired.map(({ id, act, step, matched }) => {
    const location = step === undefined ? id : `${id}, step ${step}`;
    return `the planned fault ${location} (${act}) never fired; its rule matched ${countText(matched, 'request')}`;
  });
}

/**
 * Returns the rules of a fault plan file.
 * @param option the option or command that names the file, for the error message when it cannot be
 * read
 * @throws CommandError with file, line and column of each error
 */
export async function readPlanFile(option: string, file: string): Promise<readonly FaultRule[]> {
  const plan = readPlan(await readNamedFile(option, file));
  if ('rules' in plan) return plan.rules;
  const lines = plan.problems.map(
    ({ line, column, message }) => `${file}:${line}:${column}: ${message}`,
  );
  throw new CommandError(lines.join('\n'), exitCodes.usage);
}
