/**
 * Checks the imports of the current folder against its `.dependency-cruiser.mjs`. Source files that
 * the cruiser skips are an error too: with an unsupported compiler it reads no source, and reports
 * no violation.
 */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { cruise } from 'dependency-cruiser';
import extractRules from 'dependency-cruiser/config-utl/extract-depcruise-config';
import extractTypeScript from 'dependency-cruiser/config-utl/extract-ts-config';

const folders = ['fixtures', 'server', 'simulator', 'conformance', 'bin'];
const rules = await extractRules(join(process.cwd(), '.dependency-cruiser.mjs'));
const { output } = await cruise(
  folders,
  { ...rules.options, ruleSet: rules, validate: true },
  undefined,
  { tsConfig: extractTypeScript(join(process.cwd(), 'tsconfig.json')) },
);
const { modules, summary } = output;
const cruised = new Set(modules.map(({ source }) => source));
const unread = folders
  .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && /\.(ts|tsx|mjs)$/.test(entry.name))
  .map((entry) => relative('', join(entry.parentPath, entry.name)))
  .filter((file) => !cruised.has(file));
const lines = [
  ...summary.violations.map(({ from, to, rule }) => `${from} must not import ${to} (${rule.name})`),
  ...unread.slice(0, 5).map((file) => `${file} was not read`),
  ...(unread.length > 5 ? [`${unread.length - 5} more files were not read`] : []),
];
for (const line of lines) process.stderr.write(`${line}\n`);
process.stdout.write(`imports of ${cruised.size} modules checked\n`);
process.exitCode = lines.length > 0 ? 1 : 0;
