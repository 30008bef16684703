/**
 * `fleetbed report`: renders, merges and compares results of fleets; each subcommand has its own
 * file.
 */
import type { Command } from 'commander';
import * as compare from './compare.ts';
import * as merge from './merge.ts';
import * as render from './render.ts';
import * as schema from './schema.ts';

export function configure(command: Command): void {
  compare.configure(
    command
      .command('compare')
      .description('compare two runs; exit code 1 if the later one is worse'),
  );
  merge.configure(command.command('merge').description('merge the results of shards into one'));
  render.configure(command.command('render').description('write a result as text, HTML or JUnit'));
  schema.configure(command.command('schema').description('print the JSON Schema of results'));
}
