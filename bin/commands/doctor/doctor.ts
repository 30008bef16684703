/**
 * `fleetbed doctor`: diagnoses a signature, and finds conditions on this machine that would stop a
 * run.
 */
import type { Command } from 'commander';
import { addExamples } from '../../options/examples.ts';
import { configure as configureEnvironment } from './environment.ts';
import { configure as configureSignature } from './signature.ts';

export function configure(command: Command): void {
  const add = (name: string, summary: string) =>
    command.command(name).description(summary).allowExcessArguments(false);
  addExamples(
    command,
    'fleetbed doctor environment --devices 10000 --connect',
    'fleetbed doctor signature --body request.json --signature MEUCIQ==',
  );
  configureSignature(add('signature', 'diagnose a signature that does not match'));
  configureEnvironment(
    add(
      'environment',
      'check this machine and the server before a run, and how many devices they allow',
    ),
  );
}
