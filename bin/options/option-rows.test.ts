import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  defaultsOf,
  type OptionRows,
  optionProblem,
  switchOption,
} from '../../fixtures/base/option-row.ts';
import { addOptionRows, settingsOfOptions } from './option-rows.ts';

const rows = {
  names: {
    flag: '--dialect [name]',
    group: 'Behaviour',
    help: 'names',
    cli: { kind: 'names', values: ['one', 'two'] },
    default: { value: new Set<string>(), isOmittedFromHelp: true },
    toSetting: (names: readonly string[]): ReadonlySet<string> => new Set(names),
  },
  countMax: {
    flag: '--count <count>',
    group: 'Behaviour',
    help: 'a count',
    cli: { kind: 'count', min: 1, max: 9 },
    default: { value: 3 },
  },
  isProbed: {
    flag: '--probe',
    group: 'Limits',
    help: 'probe',
    cli: { kind: 'switch', off: 'do not probe' },
    conflicts: ['letter'],
  },
  letter: {
    flag: '--letter <letter>',
    group: 'Limits',
    help: 'a letter',
    cli: { kind: 'read', read: (text) => /^[a-z]$/.exec(text)?.[0], accepted: 'a letter' },
  },
  isOn: { flag: '--on', group: 'Limits', help: 'on', ...switchOption },
} as const satisfies OptionRows;

const quiet = { writeOut: () => undefined, writeErr: () => undefined };

function commandOfRows(): Command {
  const command = addOptionRows(new Command(), rows).exitOverride().configureOutput(quiet);
  return command.action(() => undefined);
}

function settingsOf(...args: readonly string[]) {
  const command = commandOfRows().parse([...args], { from: 'user' });
  return settingsOfOptions(rows, command.opts());
}

describe('the options that rows define', () => {
  it('become settings with the names of the rows', () => {
    expect(settingsOf('--dialect', 'one,two', '--count', '4', '--no-probe', '--on')).toEqual({
      names: new Set(['one', 'two']),
      countMax: 4,
      isProbed: false,
      isOn: true,
    });
  });

  it('have their default values when no option is given', () => {
    expect(settingsOf()).toEqual({ names: new Set(), countMax: 3, isOn: false });
  });

  it.each([
    [['--count', '10'], 'Accepted: a whole number from 1 to 9.'],
    [['--dialect', 'three'], 'Accepted: one, two.'],
    [['--letter', 'ab'], 'Accepted: a letter.'],
    [['--probe', '--letter', 'a'], 'cannot be used with'],
  ])('refuse the arguments %j', (args, sentence) => {
    expect(() => settingsOf(...args)).toThrow(sentence);
  });

  it('are listed in help under their headings, in order', () => {
    const help = commandOfRows().helpInformation();
    const headings = [...help.matchAll(/^(\w+):/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Usage', 'Behaviour', 'Limits', 'Options']);
    expect(help).toContain('a count (default: 3)');
  });

  it('provide default values and a check for settings', () => {
    expect(defaultsOf(rows)).toEqual({ names: new Set(), countMax: 3, isOn: false });
    expect(optionProblem(rows, { countMax: 9, other: 1 })).toBeUndefined();
    expect(optionProblem(rows, { countMax: 10 })).toBe(
      'countMax must be a whole number from 1 to 9, not 10',
    );
  });
});
