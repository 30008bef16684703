import { Command, Option } from 'commander';
import { afterEach, describe, expect, it } from 'vitest';
import { repeatLine } from './repeat-line.ts';
import { SecretOption } from './secret-option.ts';

const seed = { ownArguments: ['--seed', "it's x"], replaced: ['--seed'] };

function lineOf(args: readonly string[]): string {
  const command = new Command('simulate')
    .option('--seed <text>')
    .option('--devices <count>')
    .option('--accept')
    .option('--duration <time>', '', '30s')
    .addOption(new Option('--url <url>').env('FLEETBED_URL'))
    .addOption(new SecretOption('--password <text>', '', 'FLEETBED_PASSWORD'))
    .action(() => undefined);
  command.parse(args, { from: 'user' });
  return repeatLine(args, command, seed);
}

describe('the line that repeats a run', () => {
  afterEach(() => {
    delete process.env.FLEETBED_URL;
    delete process.env.FLEETBED_PASSWORD;
  });

  it.each([
    [[], ''],
    [['--devices', '7', '--accept'], '--devices 7 --accept '],
    [['--seed', 'old', '--devices=7'], '--devices=7 '],
    [['--seed=old', '--devices', 'a b'], "--devices 'a b' "],
  ])('contains the arguments %j, quoted for a shell, and the seed of the run', (args, given) => {
    expect(lineOf(args)).toBe(`npx fleetbed simulate ${given}--seed 'it'\\''s x'`);
  });

  it.each([[['--password', 'secret1']], [['--password=secret1']]])(
    'omits the secret of %j, and names its variable',
    (args) => {
      const line = lineOf(['--devices', '2', ...args]);
      expect(line).not.toContain('secret1');
      expect(line).toMatch(/--devices 2 --seed .* {2}# needs FLEETBED_PASSWORD$/);
    },
  );

  it('contains values from the environment, except secrets', () => {
    process.env.FLEETBED_URL = 'http://127.0.0.1:9';
    process.env.FLEETBED_PASSWORD = 'secret1';
    const line = lineOf(['--devices', '2']);
    expect(line).toContain('--devices 2 --url http://127.0.0.1:9 --seed ');
    expect(line).not.toContain('secret1');
  });
});
