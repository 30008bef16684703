/** `fleetbed doctor`: what is wrong with a signature, and what will stop a run on this machine. */
import type { Command } from 'commander';
import { configure as configureEnvironment } from './doctor/environment.ts';
import { configure as configureSignature } from './doctor/signature.ts';

/** Adds the two doctors. */
export function configure(command: Command): void {
  const add = (name: string, summary: string) =>
    command.command(name).description(summary).allowExcessArguments(false);
  configureSignature(add('signature', 'name the mistake behind a signature that does not fit'));
  configureEnvironment(add('environment', 'tell what will stop a run, and at how many devices'));
}
