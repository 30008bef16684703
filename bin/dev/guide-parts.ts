/** The generated parts of the guides: references of options, operations and behaviours. */
import { Command, type Option } from 'commander';
import { duties } from '../../conformance/client-judge/duties/duties.ts';
import { kindSvg } from '../../conformance/self-test/report/kind-picture.ts';
import { controlRows } from '../../fixtures/control/operations.ts';
import { listActions, listReadyActions } from '../../server/faults/actions/actions.ts';
import { variationRows } from '../../server/variation/variations.ts';
import { behaviours } from '../../simulator/behaviours/catalogue.ts';
import { configure as configureConform } from '../commands/conform/conform.ts';
import { configure as configureServe } from '../commands/serve/serve.ts';
import { addRunOptions } from '../commands/simulate/simulate.ts';
import { exitCodeMeanings, exitCodes } from '../output/exit-codes.ts';

/** Generators of text by guide and by the name of the marker in it. */
export const guideParts: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'bin/guide.md': { 'exit codes': exitCodeTable },
  'conformance/guide.md': {
    options: () => optionReference(configureConform),
    duties: dutyTable,
  },
  'server/guide.md': {
    'fault actions': actionTable,
    variations: variationTable,
    operations: controlTable,
    options: () => optionReference(configureServe),
  },
  'simulator/guide.md': {
    options: () => optionReference(addRunOptions),
    behaviours: behaviourTable,
  },
};

/** Generators of the guides' pictures, by file. */
export const guidePictures: Readonly<Record<string, () => string>> = {
  'conformance/self-test/kinds.svg': kindSvg,
};

/** Returns the guide with its generated parts replaced. @throws Error when a marker is missing */
export function guideWithParts(file: string, guide: string): string {
  return Object.entries(guideParts[file] ?? {}).reduce(
    (text, [name, part]) => replacePart(text, name, part()),
    guide,
  );
}

/** Replaces the text between `<!-- name -->` and the next `<!-- end -->`. */
function replacePart(guide: string, name: string, text: string): string {
  const start = `<!-- ${name} -->`;
  const from = guide.indexOf(start);
  const to = guide.indexOf('<!-- end -->', from);
  if (from < 0 || to < 0) throw new Error(`the guide has no place for ${name}`);
  return `${guide.slice(0, from + start.length)}\n\n${text}\n\n${guide.slice(to)}`;
}

function optionReference(configure: (command: Command) => unknown): string {
  const command = new Command();
  configure(command);
  const options = command.options.filter(({ hidden }) => !hidden);
  const groups = [...new Set(options.map(({ helpGroupHeading = '' }) => helpGroupHeading))];
  return groups
    .map((group) => {
      const rows = options.filter((option) => option.helpGroupHeading === group).map(optionRow);
      return `### ${group.replace(':', '')}\n\n${table(['option', 'meaning', 'default'], rows)}`;
    })
    .join('\n\n');
}

function optionRow(option: Option): string[] {
  const { flags, description, defaultValue, defaultValueDescription, argChoices, envVar } = option;
  const at = description.lastIndexOf(' (default: ');
  const text = at < 0 ? description : description.slice(0, at);
  const inDescription = at < 0 ? '' : description.slice(at + ' (default: '.length, -1);
  const choices = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`;
  const variable = envVar === undefined ? '' : ` (environment: \`${envVar}\`)`;
  const defaultText = defaultValueDescription ?? defaultValue ?? inDescription;
  return [`\`${flags}\``, `${text}${choices}${variable}`, String(defaultText)];
}

function behaviourTable(): string {
  const rows = [...behaviours.values()].map(({ name, description, expectedServerBehaviour }) => [
    `\`${name}\``,
    description,
    expectedServerBehaviour,
  ]);
  return table(['behaviour', 'device', 'a good server'], rows);
}

function actionTable(): string {
  const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
  const rows = listActions().map(({ kind, does, required, optional, when }) => [
    code([kind]),
    does,
    code(required),
    code(optional),
    when.join(', '),
  ]);
  const readyActions = listReadyActions().map(({ name, act }) => [code([name]), code([act])]);
  return [
    table(['action', 'what it does', 'required fields', 'optional fields', 'when'], rows),
    table(['named action', 'the same as'], readyActions),
  ].join('\n\n');
}

function variationTable(): string {
  const rows = variationRows.map(({ id, varies, rule }) => [`\`${id}\``, varies, rule]);
  return table(['variation', 'what varies', 'allowed by'], rows);
}

function dutyTable(): string {
  const rows = duties.map(({ id, level, sentence }) => [`\`${id}\``, level, sentence]);
  return table(['duty', 'level', 'what a client does'], rows);
}

function exitCodeTable(): string {
  const rows = Object.entries(exitCodes).map(([name, code]) => [
    String(code),
    exitCodeMeanings[name as keyof typeof exitCodes],
  ]);
  return table(['code', 'meaning'], rows);
}

function controlTable(): string {
  const rows = Object.entries(controlRows).map(([id, { query = {}, summary }]) => {
    const names = Object.keys(query).filter((name) => name !== 'tenant');
    return [`\`${id}\``, names.join(', '), summary];
  });
  return table(['call', 'query', 'what it does'], rows);
}

/**
 * Returns a Markdown table as the formatter would print it, with columns padded to the widest cell.
 */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [first = [], ...otherRows] = cells;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(first), rule, ...otherRows.map(line)].join('\n');
}
