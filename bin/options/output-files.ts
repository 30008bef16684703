/** Refuses a command line that writes two outputs to one file, of which only the last would stay. */
import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';

/** The options of all commands that name a file to write, by their long names. */
const outputs: readonly string[] = [
  '--report',
  '--out',
  '--html',
  '--junit',
  '--prometheus',
  '--csv',
  '--markdown',
  '--annotations',
  '--ndjson',
  '--events',
  '--ledger',
  '--ready-file',
  '--har',
];

/** Ends the command with an error when two options, or two formats of one, name the same file. */
export function requireOwnFiles(command: Command): void {
  const owners = new Map<string, string>();
  for (const { option, path } of command.options.flatMap((each) => filesOf(command, each))) {
    const file = identity(path);
    if (file === undefined) continue;
    const owner = owners.get(file);
    if (owner !== undefined) {
      command.error(`${owner} and ${option} both write to ${path}; give each a file of its own.`);
    }
    owners.set(file, option);
  }
}

function filesOf(command: Command, option: Command['options'][number]) {
  const { long } = option;
  if (!long || !outputs.includes(long)) return [];
  const value: unknown = command.getOptionValue(option.attributeName());
  if (typeof value === 'string') return [{ option: long, path: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([format, path]) =>
    typeof path === 'string' ? [{ option: `${long} ${format}=FILE`, path }] : [],
  );
}

/**
 * Returns what is equal for two paths to one file; undefined for standard output, devices and
 * pipes, which hold what several outputs write.
 */
function identity(path: string): string | undefined {
  if (path === '-') return undefined;
  const fullPath = resolve(path);
  try {
    const stats = statSync(fullPath, { throwIfNoEntry: false });
    if (stats) return stats.isFile() ? `${stats.dev}:${stats.ino}` : undefined;
    return join(realpathSync(dirname(fullPath)), basename(fullPath));
  } catch {
    // There is no such folder; the command itself says so.
    return fullPath;
  }
}
