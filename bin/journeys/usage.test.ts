import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
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
    const below = (command: Command): readonly Command[] =>
      command.commands.flatMap((each) => [each, ...below(each)]);
    for (const each of [program, ...below(program)]) each.exitOverride().configureOutput(quiet);
    // Some subcommands are loaded when they are called, and an unknown option stops them then.
    for (const { name, parent } of below(program).map((each) => ({
      name: each.name(),
      parent: each.parent?.name(),
    }))) {
      if (parent === undefined || parent === 'fleetbed') continue;
      const words = [parent, name, '--no-such-option'];
      await program.parseAsync(words, { from: 'user' }).catch(() => undefined);
    }
    const isShown = (command: Command): boolean =>
      !['help', 'run-shard'].includes(command.name()) &&
      (command.parent === null || isShown(command.parent));
    return [program, ...below(program)].filter(isShown);
  }

  /** Returns the output of `--help`. */
  function helpOf(command: Command): string {
    let text = '';
    command.configureOutput({ ...quiet, writeOut: (part) => (text += part) }).outputHelp();
    return text;
  }

  const examplesIn = (help: string) =>
    [...help.matchAll(/^ {2}(?:\S+=\S+ )*npx fleetbed (.*)$/gm)].map(([, words = '']) =>
      // A text in single quotes is one word.
      [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([word, quoted]) => quoted ?? word),
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

  it('include examples that can be parsed', async () => {
    const lacking: string[] = [];
    for (const command of await allCommands()) {
      const [, after = ''] = helpOf(command).split('\nExamples:\n');
      const examples = examplesIn(after);
      const isGroup = command.commands.length > 0 && command.options.length === 0;
      if (examples.length === 0 && !isGroup) lacking.push(command.name());
      for (const words of examples) {
        if (words[0] === 'help') continue;
        const program = await programFor(words);
        const parsed = new Error('parsed');
        program.hook('preAction', () => Promise.reject(parsed));
        for (const each of [program, ...program.commands]) each.configureOutput(quiet);
        await expect(program.parseAsync(words, { from: 'user' }), words.join(' ')).rejects.toBe(
          parsed,
        );
      }
    }
    expect(lacking).toEqual([]);
  });
});
