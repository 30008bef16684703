#!/usr/bin/env node
/**
 * The command line: runs what is asked for, and turns what it returns or throws into an exit code.
 */
import { CommanderError } from 'commander';
import { printableText } from '../fixtures/printable.ts';
import { dropEmptyVariables } from './options/secret-option.ts';
import { exitCodes } from './output/exit-codes.ts';
import { CommandFault, reportFault } from './output/fault.ts';
import { programFor } from './program.ts';

/** Commander has printed its own message already; help and version are no faults. */
function exitCodeOf(fault: unknown): number {
  if (fault instanceof CommanderError) return fault.exitCode === 0 ? 0 : exitCodes.usage;
  const { exitCode, sentence } = reportFault(fault);
  process.stderr.write(`fleetbed: ${printableText(sentence)}\n`);
  const isDebugging = process.env.FLEETBED_DEBUG === '1';
  if (isDebugging && fault instanceof Error && !(fault instanceof CommandFault)) {
    process.stderr.write(`${printableText(fault.stack ?? '')}\n`);
  }
  return exitCode;
}

/** A reader that goes away, as `head` does, ends the run quietly. */
process.stdout.on('error', () => process.exit(process.exitCode ?? exitCodes.undecided));
/** Progress that nobody reads any more is no reason to end. */
process.stderr.on('error', () => undefined);
process.on('uncaughtException', (fault) => process.exit(exitCodeOf(fault)));

dropEmptyVariables(process.env);
try {
  const program = await programFor(process.argv.slice(2));
  await program.parseAsync();
} catch (fault) {
  process.exitCode = exitCodeOf(fault);
}
// What a command has left open must not keep the process; its output goes out first.
process.stdout.write('', () => process.exit());
