import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { commandPath } from '../options/config-file.ts';
import { loadOptions } from '../options/subcommands.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { commands, programFor } from '../program.ts';

describe('the options and examples of all commands', { timeout: 120_000 }, () => {
  /** Meanings of options, each with the names that every command must use. */
  const sameMeaning: readonly [RegExp, RegExp][] = [
    [/base url/i, /^--url$/],
    [/control listener$|control listener \(/i, /^--(control-)?(url|port)$/],
    [/control token/i, /^--control-token$/],
    [/of a tenant \(default/i, /^--tenant$/],
    [/^print .*JSON line/i, /^--json$/],
    [/^dialect|dialects$/i, /^--dialect$/],
    [/certificate or its authority/i, /^--ca$/],
  ];
  const quiet = { writeOut: () => undefined, writeErr: () => undefined };

  async function allCommands(): Promise<readonly Command[]> {
    const program = await programFor(Object.keys(commands));
    const subcommandsOf = (command: Command): readonly Command[] =>
      command.commands.flatMap((each) => [each, ...subcommandsOf(each)]);
    for (const each of [program, ...subcommandsOf(program)])
      each.exitOverride().configureOutput(quiet);
    for (const each of subcommandsOf(program)) await loadOptions(each);
    const isShown = (command: Command): boolean =>
      command.name() !== 'help' &&
      !commands[command.name()]?.hidden &&
      (command.parent === null || isShown(command.parent));
    return [program, ...subcommandsOf(program)].filter(isShown);
  }

  /** Returns the output of `--help`. */
  function helpOf(command: Command): string {
    let text = '';
    command.configureOutput({ ...quiet, writeOut: (part) => (text += part) }).outputHelp();
    return text;
  }

  const examplesIn = (help: string) =>
    [...help.matchAll(/^ {2}(?:\S+=\S+ )*npx fleetbed (.*)$/gm)].map(([, args = '']) =>
      // A string in single quotes is one word.
      [...args.matchAll(/'([^']*)'|(\S+)/g)].map(([word, quoted]) => quoted ?? word),
    );

  it('use the same name for the same meaning', async () => {
    for (const command of await allCommands()) {
      for (const { long, description, hidden } of command.options) {
        if (hidden) continue;
        for (const [meaning, name] of sameMeaning) {
          if (meaning.test(description)) expect(long, description).toMatch(name);
        }
        expect(description, `${command.name()} ${long}`).not.toMatch(/\btell|\bworld'?s\b|\bmend/);
      }
    }
  });

  /** Commands that print no result of their own. */
  const withoutResult = [
    ...['fleetbed', 'with-server', 'terminal', 'completion', 'record', 'cleanup', 'worker'],
    ...['simulate cleanup', 'conform cleanup', 'vectors', 'contract'],
    // They write a file, or print what others read.
    ...[
      'world init',
      'world check',
      'world schema',
      'faults schema',
      'report schema',
      'report render',
      'report merge',
    ],
  ];

  it('let every command be quiet, and every command with a result print JSON', async () => {
    const lacking: string[] = [];
    for (const command of await allCommands()) {
      const flags = command.options.map(({ long }) => long);
      const isGroup = command.commands.length > 0 && flags.length === 0;
      const name = commandPath(command);
      if (isGroup || withoutResult.includes(name)) continue;
      if (!flags.includes('--json')) lacking.push(`${name} --json`);
      if (!flags.includes('--quiet') && name !== 'config') lacking.push(`${name} --quiet`);
    }
    expect(lacking).toEqual([]);
  });

  it('name the default of each option once', async () => {
    for (const command of await allCommands()) {
      const twice = helpOf(command).match(/\(default: [^)]*\)[^(]*\(default: [^)]*\)/g) ?? [];
      const ofOneOption = twice.filter((text) => !/\n +-/.test(text));
      expect(ofOneOption, commandPath(command)).toEqual([]);
    }
  });

  it('suggest the nearest option for one that is mistyped', async () => {
    for (const command of await allCommands()) {
      // A required option that is missing is the first error.
      if (command.options.some(({ mandatory }) => mandatory)) continue;
      if (!command.options.some(({ long }) => long === '--quiet')) continue;
      const args = commandPath(command).split(' ');
      const program = await programFor(args);
      let printed = '';
      const output = { writeErr: (text: string) => (printed += text) };
      const configured = [program, ...program.commands.flatMap((each) => [each, ...each.commands])];
      for (const each of configured) each.exitOverride().configureOutput(output);
      await expect(program.parseAsync([...args, '--quite'], { from: 'user' })).rejects.toThrow(
        "unknown option '--quite'",
      );
      expect(printed).toBe("fleetbed: unknown option '--quite'\n(Did you mean --quiet?)\n");
    }
  });

  /** Commands that only print what is built in: they end with 0, or 2 for a wrong command line. */
  const withoutOwnCodes = [
    ...['fleetbed', 'completion', 'faults actions', 'faults schema', 'world schema'],
    ...['report schema', 'simulate behaviours', 'conform hooks'],
  ];

  it('come with the exit codes of each command that has some of its own', async () => {
    const lacking: string[] = [];
    for (const command of await allCommands()) {
      const isGroup = command.commands.length > 0 && command.options.length === 0;
      const name = commandPath(command);
      if (isGroup || withoutOwnCodes.includes(name)) continue;
      const [, section = ''] = helpOf(command).split('\nExit codes:\n');
      const codes = [...section.matchAll(/^ {2}(\d+) +\S/gm)].map(([, code]) => Number(code));
      if (!codes.includes(exitCodes.usage)) lacking.push(name);
      if (name !== 'with-server' && !codes.includes(exitCodes.pass)) lacking.push(`${name} 0`);
    }
    expect(lacking).toEqual([]);
  });

  it('include examples that can be parsed', async () => {
    const lacking: string[] = [];
    for (const command of await allCommands()) {
      const [, exampleText = ''] = helpOf(command).split('\nExamples:\n');
      const examples = examplesIn(exampleText);
      const isGroup = command.commands.length > 0 && command.options.length === 0;
      if (examples.length === 0 && !isGroup) lacking.push(command.name());
      for (const args of examples) {
        if (args[0] === 'help') continue;
        const program = await programFor(args);
        const parsed = new Error('parsed');
        program.hook('preAction', () => Promise.reject(parsed));
        for (const each of [program, ...program.commands]) each.configureOutput(quiet);
        await expect(program.parseAsync(args, { from: 'user' }), args.join(' ')).rejects.toBe(
          parsed,
        );
      }
    }
    expect(lacking).toEqual([]);
  });
});
