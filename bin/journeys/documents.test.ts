import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dialectNames } from '../../fixtures/contract/dialects.ts';
import { guideParts, guidePictures, guideWithParts } from '../dev/guide-parts.ts';
import { loadOptions } from '../options/subcommands.ts';
import { commands, programFor } from '../program.ts';
import {
  abridgeOutput,
  type DocumentStage,
  documents,
  isDemo,
  openStage,
  projectFolder,
  shownOutputs,
  withoutChangingValues,
} from '../testing/documents.ts';

const README_LINES_MAX = 200;
/** True for `npm run docs`, which writes the outputs instead of comparing them. */
const isWriting = process.env.FLEETBED_WRITE_DOCUMENTS === '1';
/** Time limit of a document, longer for writing because only writing runs the demo. */
const DOCUMENT_MAX_MS = isWriting ? 400_000 : 120_000;

const read = (document: string) => readFileSync(join(projectFolder, document), 'utf8');
const commandGuide = read('bin/guide.md');

/** Returns every code block of a document other than shown outputs, and all inline code. */
function codeOf(document: string): readonly string[] {
  const blocks = /^```(.*)\n((?:(?!```).*\n)*)```/gm;
  const fenced = [...document.matchAll(blocks)].filter(([, form]) => form !== 'text output');
  const inline = [...document.replace(blocks, '').matchAll(/`([^`]+)`/g)];
  return [
    ...fenced.map(([, , code = '']) => code.replaceAll('\\\n', ' ')),
    ...inline.map(([, code = '']) => code.replaceAll('\n', ' ')),
  ];
}

/** Returns the arguments of every `fleetbed …` command in a document, up to its end in a shell. */
function commandLinesOf(document: string): readonly (readonly string[])[] {
  // The command after `--` of with-server, and one in quotes, have options of their own.
  const lines = codeOf(document).flatMap((code) =>
    [
      ...code
        .replaceAll(' -- ', '\n')
        .replace(/ (?:'[^'\n]*'|"[^"\n]*")/g, ' TEXT')
        .matchAll(/\bfleetbed (?=[a-z-])([^\n#|&;)]*)/g),
    ].map(([, line = '']) => line),
  );
  return lines.map((line) => line.trim().split(/\s+/));
}

/**
 * Returns the error in a command line: an unknown command, or an option that help does not show.
 */
async function errorOf(args: readonly string[]): Promise<string | undefined> {
  const program = await programFor(args);
  let command: Command = program;
  const [first = ''] = args;
  if (!(first in commands) && first !== 'help' && !first.startsWith('-')) {
    return `unknown command: fleetbed ${first}`;
  }
  const knownOptions = new Set(['--help', '--version']);
  for (const word of args) {
    // What follows `config` is the command line of any command.
    const from = command.name() === 'config' ? program : command;
    const subcommand = from.commands.find((each) => each.name() === word);
    if (subcommand) await loadOptions(subcommand);
    command = subcommand ?? command;
    for (const { long, hidden } of command.options) if (long && !hidden) knownOptions.add(long);
  }
  const unknown = args
    .filter((word) => word.startsWith('--'))
    .map((word) => word.replace(/=.*/, ''))
    .filter((option) => !knownOptions.has(option));
  return unknown.length > 0 ? `fleetbed ${first} has no ${unknown.join(' and no ')}` : undefined;
}

/** Returns the anchors of the headings, as GitHub creates them. */
function anchorsOf(document: string): readonly string[] {
  return [...document.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

function brokenLinksOf(name: string): readonly string[] {
  const links = [...read(name).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
  return links.flatMap(([, path = '', anchor]) => {
    const target = path === '' ? name : join(dirname(name), path);
    if (!existsSync(join(projectFolder, target))) return [target];
    const isThere = anchor === undefined || anchorsOf(read(target)).includes(anchor);
    return isThere ? [] : [`${target}#${anchor}`];
  });
}

describe('the README of the project', () => {
  it('has few enough lines to be read in some minutes', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(README_LINES_MAX);
  });
});

describe.each(documents)('the document %s', (name) => {
  it('has no broken links', () => {
    expect(brokenLinksOf(name)).toEqual([]);
  });

  it('uses only commands and options that --help shows', async () => {
    const errors = await Promise.all(commandLinesOf(read(name)).map(errorOf));
    expect([...new Set(errors)].filter((error) => error !== undefined)).toEqual([]);
  });
});

describe('the check of options in documents', () => {
  it.each([
    ['npx fleetbed serve --auto-acept', 'fleetbed serve has no --auto-acept'],
    ['fleetbed sevre', 'unknown command: fleetbed sevre'],
    ['fleetbed world load FILE --port 1', 'fleetbed world has no --port'],
    ['fleetbed state import FILE --data NEW && x --none', undefined],
  ])('finds the error in `%s`: %s', async (line, error) => {
    const [args = []] = commandLinesOf(`\`\`\`sh\n${line}\n\`\`\`\n`);
    expect(await errorOf(args)).toBe(error);
  });
});

describe('the outputs shown in documents', () => {
  let stage: DocumentStage | undefined;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage?.close());

  it.each(documents)(
    'are what the preceding commands print: %s',
    { timeout: DOCUMENT_MAX_MS },
    async (name) => {
      let text = read(name);
      const all = shownOutputs(text);
      const outputs = all.filter((output) => isWriting || !isDemo(output));
      const marked = text.match(/^```text output$/gm) ?? [];
      expect(marked.length, 'each right after a block of sh').toBe(all.length);
      const printed: string[] = [];
      for (const { script, output } of outputs) {
        printed.push(
          abridgeOutput((await stage?.produce(script, DOCUMENT_MAX_MS / 2)) ?? '', output),
        );
      }
      if (isWriting) {
        // From the last output to the first, so that the positions of earlier outputs remain valid.
        for (const { index, output } of outputs.toReversed()) {
          text = text.slice(0, index) + printed.pop() + text.slice(index + output.length);
        }
        writeFileSync(join(projectFolder, name), text);
        return;
      }
      const documentedOutputs = outputs.map(({ output }) => withoutChangingValues(output));
      expect(printed.map(withoutChangingValues), 'npm run docs writes them again').toEqual(
        documentedOutputs,
      );
    },
  );

  it('are compared, except for values that differ between runs', () => {
    const line = (text: string) => withoutChangingValues(text);
    expect(line('64 cases in 5.5 s: 1 fail')).toBe(line('64 cases in 17 s: 1 fail'));
    expect(line('64 cases in 5.5 s: 1 fail')).not.toBe(line('64 cases in 5.5 s: 2 fail'));
    expect(abridgeOutput('a\n\nb\nc\n', '...\nb\nc\n')).toBe('...\nb\nc\n');
    expect(abridgeOutput('a\nb\nc\nd\n', 'a\n...\nd\n')).toBe('a\n...\nd\n');
    expect(abridgeOutput('a\nx\nc\ne\n', 'a\n...\nd\n')).toBe('a\n...\ne\n');
    expect(abridgeOutput('a\n', 'a\n...\nd\n')).toBe('a\n...\n');
    expect(abridgeOutput('a\nb\nc 1 s\nd\ne\n', '...\nc 2 s\nd\n...\n')).toBe(
      '...\nc 1 s\nd\n...\n',
    );
  });
});

describe('the guide of the server', () => {
  const guide = read('server/guide.md');

  it('describes every dialect', () => {
    expect(dialectNames.filter((name) => !guide.includes(`| \`${name}\` `))).toEqual([]);
  });
});

describe('the figures of random alterations in documents', () => {
  const recorded: readonly { readonly name: string; readonly figures: readonly string[] }[] =
    JSON.parse(read('bin/dev/nightly/result.json'));
  const figures = recorded.find(({ name }) => name === 'random alterations')?.figures ?? [];
  const [, all = '', killed = '', percent = ''] =
    /^(\d+) alterations violate a must: (\d+) killed, ([\d.]+) percent/.exec(figures[0] ?? '') ??
    [];
  const plain = (name: string) => read(name).replace(/\s+/g, ' ');

  it('equal those of the last nightly run', () => {
    expect(Number(percent)).toBeGreaterThan(0);
    expect(plain('README.md')).toContain(`${killed} of ${all} random alterations`);
    expect(plain('README.md')).toContain(`a MUST, ${percent} %`);
    const guide = plain('conformance/guide.md');
    expect(guide).toContain(`selects ${all} alterations that violate a must`);
    expect(guide).toContain(`killed ${killed} of them (${percent} percent)`);
    const [conforming] = figures[2]?.split(' ') ?? [];
    expect(guide).toContain(`Of ${conforming} conforming ones none fails a case`);
  });

  it('add up in the table of kinds', () => {
    const cells = [...read('conformance/guide.md').matchAll(/\| (\d+) of (\d+) /g)];
    const sum = (column: number) =>
      cells.reduce((total, cell) => total + Number(cell[column]), 0).toString();
    expect([sum(1), sum(2)]).toEqual([killed, all]);
  });
});

describe.each(Object.keys(guideParts))('the generated parts of %s', (name) => {
  it('are up to date; otherwise `npm run docs` updates them', () => {
    const guide = read(name);
    expect(guideWithParts(name, guide)).toBe(guide);
  });
});

describe.each(Object.entries(guidePictures))('the generated picture %s', (path, picture) => {
  it('is up to date; otherwise `npm run docs` updates it', () => {
    expect(read(path)).toBe(picture());
  });
});

describe('the guide of the command line', () => {
  it('describes every command', () => {
    const publicCommands = Object.entries(commands).filter(([, { hidden }]) => !hidden);
    const missing = publicCommands.filter(
      ([name]) => !new RegExp(`fleetbed ${name}[ \`]`).test(commandGuide),
    );
    expect(missing.map(([name]) => name)).toEqual([]);
  });

  it('names with each environment variable an option that it sets, and misses no variable', async () => {
    const program = await programFor(['config']);
    const optionsOf = new Map<string, string[]>();
    const collect = async (command: Command): Promise<void> => {
      await loadOptions(command);
      for (const { envVar, long } of command.options) {
        if (envVar && long) optionsOf.set(envVar, [...(optionsOf.get(envVar) ?? []), long]);
      }
      for (const each of command.commands) await collect(each);
    };
    await collect(program);
    const rows = [...commandGuide.matchAll(/^\| `(FLEETBED_\w+)` +\| (.*?) +\|$/gm)];
    const named = new Map(rows.map(([, variable = '', cell = '']) => [variable, cell]));
    for (const [variable, options] of optionsOf) {
      expect(
        options.some((option) => named.get(variable)?.includes(option)),
        variable,
      ).toBe(true);
    }
    const otherVariables = [...named.keys()].filter((variable) => !optionsOf.has(variable));
    expect(otherVariables).toEqual(['FLEETBED_CONFIG', 'FLEETBED_DEBUG']);
  });

  it('gives a reason for every dependency, and for no other package', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json'));
    const rows = commandGuide
      .slice(commandGuide.indexOf('## Dependencies'))
      .matchAll(/^\| ([^|]*)/gm);
    const named = [...rows].slice(2).flatMap(([, cell = '']) => cell.trim().split(', '));
    const wanted = Object.keys({ ...dependencies, ...devDependencies });
    const isNamed = (name: string) =>
      named.includes(name) || (name.startsWith('@types/') && named.includes('@types/*'));
    expect(wanted.filter((name) => !isNamed(name))).toEqual([]);
    expect(named.filter((name) => name !== '@types/*' && !wanted.includes(name))).toEqual([]);
  });
});
