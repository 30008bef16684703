/** `fleetbed report`: what can be done with the results of fleets; each part has its own file. */
import type { Command } from 'commander';
import * as compare from './report/compare.ts';
import * as merge from './report/merge.ts';
import * as render from './report/render.ts';
import * as schema from './report/schema.ts';

/** Adds the subcommands. */
export function configure(command: Command): void {
  compare.configure(
    command.command('compare').description('tell whether the later of two runs is worse'),
  );
  merge.configure(command.command('merge').description('make one result of those of shards'));
  render.configure(
    command.command('render').description('make a text, a page or JUnit of a result'),
  );
  schema.configure(command.command('schema').description('print the JSON Schema of results'));
}
