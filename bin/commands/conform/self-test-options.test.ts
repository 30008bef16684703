import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { configure } from './self-test.ts';

/** Returns the error message for arguments that the command must refuse. */
async function refusal(...args: readonly string[]): Promise<string> {
  const command = new Command().exitOverride();
  command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  configure(command);
  const refused = command.parseAsync([...args], { from: 'user' });
  return refused.then(
    () => 'it was accepted',
    (error: unknown) => String(error),
  );
}

describe('the check of the options of fleetbed conform self-test', () => {
  it.each([
    [['--fuzz', '0'], /'--fuzz <count>' argument '0' is invalid.*from 1 to 100000/],
    [['--fuzz', 'many'], /'--fuzz <count>' argument 'many' is invalid/],
    [['--fuzz', '5', '--floor', '95'], /'--floor <share>' argument '95' is invalid.*0 to 1/],
    [['--fuzz', '5', '--seed', ''], /'--seed <text>' argument '' is invalid/],
    [['--processes', '0'], /'--processes <count>' argument '0' is invalid/],
    [
      ['--seed', '1'],
      /--seed selects alterations or a sample of the defects; add --fuzz or --sample/,
    ],
    [['--sample', 'few'], /'--sample <count>' argument 'few' is invalid/],
    [['--sample', '5', '--html', 'a'], /'--sample <count>' cannot be used with option '--html/],
    [['--sample', '5', '--fuzz', '5'], /cannot be used with option '--(fuzz|sample) <count>'/],
    [['--sample', '5', '--floor', '0.9'], /--floor is an option of random alterations/],
    [['--floor', '0.9'], /--floor is an option of random alterations; add --fuzz/],
    [
      ['--fuzz', '5', '--update-result'],
      /'--fuzz <count>' cannot be used with option '--update-result'/,
    ],
    [['--update-result', 'link-'], /--update-result replaces .* run it without IDs and --cases/],
    [['--update-result', '--cases', 'link'], /run it without IDs and --cases/],
    [['--fuzz', '5', '--html', 'a'], /'--fuzz <count>' cannot be used with option '--html <file>'/],
    [['--fuzz', '5', 'fuzz-00006'], /no defect has an ID that starts with "fuzz-00006"/],
  ])('refuses the arguments %j', async (args, sentence) => {
    expect(await refusal(...args)).toMatch(sentence);
  });
});
