import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { type WorstInput, worstInputs } from '../testing/worst-inputs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Lengths at which an expression becomes slow whose work doubles with each character. */
const SHORT_LENGTHS = [16, 22, 28, 64, 256, 1024];
const LONG_LENGTH = 8192;
/** Shorter times are neither noticeable nor measurable, so they are ignored. */
const NOTICED_MS = 3;
/** For 4 times the text, linear work takes 4 times as long, and quadratic work 16 times. */
const GROWTH_MAX = 8;
/**
 * The fastest of these rounds counts, because other load on the machine only makes rounds slower.
 */
const ROUNDS = 7;

/** Samples of the expressions that these files create at run time. */
const madeAtRunTime: Readonly<Record<string, readonly RegExp[]>> = {
  'bin/commands/vectors/formats.ts': [/.{1,24}/g],
  // This file reads only tables of this project.
  'bin/dev/new-case/new-rows.ts': [],
  'conformance/passive/checks/headers.ts': [
    /^@-?\d+$|^true$|^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  ],
  'conformance/repro-script/request.ts': [/.{1,120}/g],
  'conformance/repro-script/values.ts': [/"id"\s*:\s*"[^"]*"/g],
  'conformance/repro-script/variables.ts': [/^<masked:token-\d+>$/],
  'conformance/target/operation-at.ts': [/^\/api\/(?<id>[^/]+)\/b\/(?<name>[^/]+)$/],
  'conformance/target/mask.ts': [
    /(")((?:[\w-]*_)?(?:password|secret|token))"(\s*:\s*)"(?!<masked)(?:\\.|[^"\\])+"/gis,
    /(\\")((?:[\w-]*_)?(?:password|secret|token))\\"(\s*:\s*)\\"(?!<masked)(?:\\\\.{1,2}|[^"\\])+\\"/gis,
  ],
  'fixtures/contract/management/connect.ts': [/^[0-7]{1,11}$/],
  'fixtures/contract/management/inventory.ts': [/^[A-Za-z0-9_-]{1,1024}$/],
  'fixtures/formats/mender-artifact-header.ts': [
    /^scripts\/(Download|Idle)_(Enter|Leave|Error)_\d\d(_[^\s/]+)?$/,
  ],
  'fixtures/reference/components.ts': [/Shape$/],
  'server/explain/rule.ts': [/^body\.[^.]+\.name$/],
  'server/http/file-body.ts': [
    /^([A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT)$/,
  ],
  // These expressions read only our own paths, or repeat nothing but whole path segments.
  'server/control/http/management.ts': [/^\/api\/management\/v1\/[^/]+\/b\/[^/]+\/?$/],
  'server/pipeline/routes.ts': [/^GET \/api\/devices\/[^/]+\/b\/[^/]+$/],
  'server/rules/role-formats.ts': [],
  'simulator/device/renewal.ts': [/"expires_in"\s*:\s*(\d{1,12})\b/],
  // This parser reads at most 200 characters of an operator's own text.
  'simulator/plan/thresholds-parser.ts': [],
};

interface Found {
  readonly location: string;
  readonly expression: RegExp;
}

/** The check of words reads only files of this project, so that it may take long on worse ones. */
const wordChecks = ['bin/dev/names.mjs', 'bin/dev/prose.mjs', 'bin/dev/unwanted-words.mjs'];

const isProduction = (path: string): boolean =>
  /\.(ts|mjs)$/.test(path) &&
  !/\.(test|d)\.ts$|\/testing\/|self-test\/defects\//.test(path) &&
  !wordChecks.includes(path);

const files = ['fixtures', 'server', 'simulator', 'conformance', 'bin'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => relative(root, join(root, folder, name)).replaceAll('\\', '/'))
    .filter(isProduction),
);

function expressionsIn(path: string): { literals: Found[]; isMaking: boolean } {
  const text = readFileSync(join(root, path), 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const literals: Found[] = [];
  let isMaking = false;
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const [, pattern = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(node.text) ?? [];
      const { line } = source.getLineAndCharacterOfPosition(node.pos);
      literals.push({ location: `${path}:${line + 1}`, expression: new RegExp(pattern, flags) });
    }
    const isCall = ts.isNewExpression(node) || ts.isCallExpression(node);
    if (isCall && ts.isIdentifier(node.expression) && node.expression.text === 'RegExp') {
      isMaking = true;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { literals, isMaking };
}

/** Measures CPU time instead of elapsed time, because other processes use the machine too. */
function costMs(expression: RegExp, text: string): number {
  const began = process.cpuUsage();
  if (expression.global) text.replace(expression, '');
  else expression.test(text);
  expression.lastIndex = 0;
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

function minMs(expression: RegExp, text: string): number {
  return Math.min(...Array.from({ length: ROUNDS }, () => costMs(expression, text)));
}

function isHarmless(expression: RegExp, input: WorstInput): boolean {
  for (const length of SHORT_LENGTHS) {
    const text = input(length);
    if (costMs(expression, text) > 10 * NOTICED_MS && minMs(expression, text) > 10 * NOTICED_MS)
      return false;
  }
  const text = input(LONG_LENGTH);
  if (costMs(expression, text) < NOTICED_MS) return true;
  const long = minMs(expression, text);
  return long < NOTICED_MS || long / minMs(expression, input(LONG_LENGTH / 4)) < GROWTH_MAX;
}

it('no regular expression exceeds its time limit on its worst inputs', {
  timeout: 120_000,
}, () => {
  const read = files.map((path) => ({ path, ...expressionsIn(path) }));
  const making = read.filter(({ isMaking }) => isMaking).map(({ path }) => path);
  expect(making.toSorted()).toEqual(Object.keys(madeAtRunTime).toSorted());
  const made = Object.entries(madeAtRunTime).flatMap(([location, expressions]) =>
    expressions.map((expression) => ({ location, expression })),
  );
  const all = [...read.flatMap(({ literals }) => literals), ...made];
  const different = new Map(all.map((found) => [String(found.expression), found]));
  const slow = [...different.values()].flatMap(({ location, expression }) => {
    const input = worstInputs(expression).find((worst) => !isHarmless(expression, worst));
    return input ? [`${location} ${expression}: ${JSON.stringify(input(60))}`] : [];
  });
  expect(slow).toEqual([]);
});

it.each([
  [/(a+)+$/, 'itself'],
  [/x*y$/, 'begun again'],
  [/^[ab]+[bc]+$/, 'two that share a character'],
  [/<[^>]*>/, 'begun again'],
])('the check of regular expressions finds that %s is slow: %s', (expression) => {
  expect(worstInputs(expression).every((worst) => isHarmless(expression, worst))).toBe(false);
});
