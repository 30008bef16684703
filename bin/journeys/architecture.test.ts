import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { headings } from '../../fixtures/contract/requirements/requirement.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Source {
  /** Path from the root of the project, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly isTest: boolean;
}

/** The layers that each layer may import, from the configuration of the import check. */
type Rules = Readonly<Record<string, { readonly layers?: readonly string[] }>>;

const folders = ['fixtures', 'server', 'simulator', 'conformance', 'bin'];
const sources: readonly Source[] = folders
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => {
    const file = join(entry.parentPath, entry.name);
    const path = relative(root, file).replaceAll('\\', '/');
    return { path, text: readFileSync(file, 'utf8'), isTest: isTestFile(path) };
  });
const production = sources.filter(({ isTest }) => !isTest);

function isTestFile(path: string): boolean {
  return path.endsWith('.test.ts') || path.includes('/testing/');
}

function importsOf({ text }: Source): string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
}

/** Syntax trees of the sources, kept because several tests read the same files. */
const trees = new WeakMap<Source, ts.SourceFile>();

function treeOf(source: Source): ts.SourceFile {
  const known = trees.get(source);
  if (known) return known;
  const tree = ts.createSourceFile(source.path, source.text, ts.ScriptTarget.ESNext, true);
  trees.set(source, tree);
  return tree;
}

/** Returns the position and text of each node in a source that `picks` selects. */
function nodesOf(source: Source, picks: (node: ts.Node) => boolean): string[] {
  const file = treeOf(source);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (picks(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.push(`${source.path}:${line + 1} ${node.getText().slice(0, 80)}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function isText(node: ts.Node): node is ts.LiteralLikeNode {
  return (
    ts.isStringLiteralLike(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddle(node) ||
    ts.isTemplateTail(node)
  );
}

const clocksAndChance = new Set([
  'Date.now',
  'Math.random',
  'performance.now',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'randomUUID',
  'randomBytes',
  'randomInt',
  'randomFillSync',
  'getRandomValues',
]);
const clockModules = /^(node:)?(timers(\/promises)?|perf_hooks)$/;

function isNonDeterministic(node: ts.Node): boolean {
  if (ts.isNewExpression(node)) {
    return node.expression.getText() === 'Date' && (node.arguments?.length ?? 0) === 0;
  }
  if (ts.isCallExpression(node)) {
    const callee = node.expression.getText();
    return clocksAndChance.has(callee) || clocksAndChance.has(callee.split('.').at(-1) ?? '');
  }
  return (
    ts.isImportDeclaration(node) && clockModules.test(node.moduleSpecifier.getText().slice(1, -1))
  );
}

/** Files with forbidden and allowed imports, all of which exist. */
const trials: readonly (readonly [path: string, text: string])[] = [
  ['server/api/device/a.ts', "import { x } from '../../../simulator/plan/plan.ts';"],
  ['server/api/device/b.ts', "import { x } from '../management/management.ts';"],
  ['server/api/device/c.ts', "import sql from 'sql.js';"],
  ['server/rules/a.ts', "import { x } from '../store/store.ts';"],
  ['server/pipeline/a.ts', "import type { X } from '../control/x.ts';"],
  ['server/store/a.ts', "import { x } from './folder/x.ts';"],
  ['server/store/engine/a.ts', "import { x } from '../store.ts';"],
  ['server/journal/a.ts', "import { x } from '../explain/x.ts';"],
  ['server/faults/a.ts', "import { x } from '../control/x.ts';"],
  ['server/http/a.ts', "import { x } from './testing/x.ts';"],
  ['server/http/b.test.ts', "import { x } from '../../simulator/plan/plan.ts';"],
  ['server/a.ts', "import { x } from '../bin/output/output.ts';"],
  ['simulator/plan/a.ts', "import { x } from '../engine/x.ts';"],
  ['simulator/device/a.ts', "export * from '../../server/server.ts';"],
  ['simulator/api-client/a.ts', "import forge from 'node-forge';"],
  ['conformance/target/a.ts', "import { x } from '../cases/x.ts';"],
  ['conformance/a.ts', "const x = await import('../simulator/plan/plan.ts');"],
  ['fixtures/a.ts', "import type { X } from '../server/server.ts';"],
  [
    'fixtures/circle/a.ts',
    "import type { B } from './b.ts';\nexport interface A { readonly b: B }",
  ],
  ['bin/a.ts', "import semver from 'semver';"],
  ['bin/commands/serve/serve.ts', "import { x } from '../simulate/simulate.ts';"],
];
const allowed: typeof trials = [
  ['bin/commands/b.ts', "import { x } from '../../server/server.ts';"],
  ['server/api/device/d.ts', "import { x } from '../../store/store.ts';"],
  ['server/pipeline/b.ts', "import { consola } from 'consola/basic.js';"],
  ['server/http/c.test.ts', "import { x } from '../store/store.ts';"],
];
const imported = [
  ...['simulator/plan/plan.ts', 'simulator/engine/x.ts', 'server/api/management/management.ts'],
  ...['server/store/store.ts', 'server/store/folder/x.ts', 'server/control/x.ts'],
  ...['server/explain/x.ts', 'server/http/testing/x.ts'],
  ...[
    'server/server.ts',
    'bin/output/output.ts',
    'bin/commands/simulate/simulate.ts',
    'conformance/cases/x.ts',
  ],
];

/** Checks the imports of a folder as `npm run check` does. */
function checkImports(folder: string): { readonly code: number | null; lines: string[] } {
  const script = join(root, 'bin/dev/check-imports.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: folder });
  return { code: status, lines: String(stderr).trimEnd().split('\n') };
}

describe('the import rules', () => {
  it('refuse each wrong import of a sample, and no allowed one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fleetbed-house-'));
    const circle = ['fixtures/circle/b.ts', "import type { A } from './a.ts';\nexport type B = A;"];
    const there = imported.map((path) => [path, 'export const x = 1;\nexport type X = 1;']);
    for (const [path = '', text = ''] of [...trials, ...allowed, ...there, circle]) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    writeFileSync(join(folder, 'tsconfig.json'), '{}');
    for (const name of ['sql.js', 'node-forge', 'semver', 'consola']) {
      mkdirSync(join(folder, 'node_modules', name), { recursive: true });
      writeFileSync(join(folder, 'node_modules', name, 'package.json'), `{"name":"${name}"}`);
      for (const file of ['index.js', 'basic.js']) {
        writeFileSync(join(folder, 'node_modules', name, file), '');
      }
    }
    cpSync(join(root, '.dependency-cruiser.mjs'), join(folder, '.dependency-cruiser.mjs'));
    const { code, lines } = checkImports(folder);
    expect(code).toBe(1);
    const caught = new Set(lines.map((line) => line.split(' ')[0]));
    caught.delete('fixtures/circle/b.ts');
    expect([...caught].sort()).toEqual(trials.map(([path]) => path).sort());
  });

  it('fail when a source file was not read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fleetbed-house-'));
    for (const part of folders) {
      mkdirSync(join(folder, part));
      writeFileSync(join(folder, part, 'a.ts'), 'export const a = 1;\n');
    }
    writeFileSync(join(folder, 'tsconfig.json'), '{}');
    const rules = { forbidden: [], options: { exclude: { path: '^server/' } } };
    const text = `export default ${JSON.stringify(rules)};\n`;
    writeFileSync(join(folder, '.dependency-cruiser.mjs'), text);
    const { code, lines } = checkImports(folder);
    expect({ code, lines }).toEqual({ code: 1, lines: ['server/a.ts was not read'] });
  });
});

const guide = readFileSync(join(root, '.github/CONTRIBUTING.md'), 'utf8');

describe('the files and folders named in CONTRIBUTING', () => {
  /**
   * Paths as in `server/rules`, `stages.ts` and `device/`; not `.mender`, `/connect` or the pattern
   * NAME.test.ts.
   */
  const named = [...guide.matchAll(/`(?!NAME)(\w[\w.-]*(?:\/[\w.-]+)*)(\/?)`/g)].flatMap(
    ([, path = '', slash]) =>
      slash === '/' || path.includes('/') || /\.(?:tsx?|mjs|json)$/.test(path) ? [path] : [],
  );
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
      (path) => `/${folder}/${path.replaceAll('\\', '/')}`,
    ),
  );
  const isInside = (path: string) => folders.some((folder) => path.startsWith(`${folder}/`));
  const exists = (path: string) =>
    isInside(path)
      ? paths.includes(`/${path}`)
      : existsSync(join(root, path)) || paths.some((each) => each.endsWith(`/${path}`));

  it('all exist, and are more than a hundred', () => {
    expect(named.filter((path) => !exists(path))).toEqual([]);
    expect(new Set(named).size).toBeGreaterThan(100);
  });
});

describe('the layers listed in CONTRIBUTING', () => {
  const listed = [
    ...guide.matchAll(/^\| `((?:fixtures|server|simulator|conformance|bin)(?:\/[\w/-]+)?)` /gm),
  ];
  const layers = listed.map(([, layer = '']) => layer);

  it('are exactly the folders of the five parts, one in each row', () => {
    const there = sources.map(({ path }) => path.split('/').slice(0, -1));
    const folder = ([part = '', layer]: readonly string[]) => [part, layer].join('/');
    const expected = there
      .filter(([, layer]) => layer !== undefined && layer !== 'testing')
      .map(folder);
    const nested = [
      'server/store/engine',
      'server/store/folder',
      'conformance/client-judge/report',
    ];
    expect(layers.toSorted()).toEqual([...new Set([...expected, ...nested])].sort());
  });

  it('have import rules, and come after all layers that they may import', async () => {
    const path = pathToFileURL(join(root, '.dependency-cruiser.mjs')).href;
    const rules: { readonly layers: Rules } = await import(path);
    const ruled = (layer: string) => rules.layers[layer] ?? rules.layers[`${layer}/*`];
    const free = layers.filter((layer) => !ruled(layer) && !layer.startsWith('fixtures/'));
    // They contain only tests, so they need no rules.
    expect(free).toEqual(['bin/ship', 'bin/journeys']);
    const early = layers.flatMap((layer, at) =>
      (ruled(layer)?.layers ?? [])
        .map((otherLayer) => layers.indexOf(otherLayer.replace(/\/\*$/, '')))
        .filter((otherAt) => otherAt >= at)
        .map((otherAt) => `${layer} before ${layers[otherAt]}`),
    );
    expect(early).toEqual([]);
  });
});

describe('the sources of the project', () => {
  it('spell API paths only in the contract, the cases and the defective clients', () => {
    const allowed = ['fixtures/', 'conformance/cases/', 'conformance/client-judge/self-test/'];
    const otherFiles = production.filter(
      ({ path }) => !allowed.some((folder) => path.startsWith(folder)),
    );
    const spelled = otherFiles.flatMap((source) =>
      nodesOf(
        source,
        (node) => isText(node) && node.text.includes('/api/') && !node.text.startsWith('.'),
      ),
    );
    expect(spelled).toEqual([]);
  });

  it('use real time, randomness and their own process in only three files', () => {
    const process = 'simulator/metrics/generator-machine.ts';
    const allowed = ['fixtures/base/clock.ts', 'fixtures/base/random.ts', process];
    const otherFiles = production.filter(
      // The console page runs in a browser, which has no other clock.
      ({ path }) => !allowed.includes(path) && !path.startsWith('server/console/page/'),
    );
    expect(otherFiles.flatMap((source) => nodesOf(source, isNonDeterministic))).toEqual([]);
  });

  it('import the SQL engine only in the store', () => {
    const users = sources.filter((source) => importsOf(source).includes('sql.js'));
    expect(users.map(({ path }) => dirname(path))).toEqual(['server/store/engine']);
  });
});

describe('the check for non-deterministic code', () => {
  it.each([
    'new Date()',
    'Date.now()',
    'crypto.randomUUID()',
    'setTimeout(f, 1)',
    "import { setTimeout } from 'node:timers/promises'",
  ])('reports the expression: %s', (text) => {
    expect(nodesOf({ path: 'server/a.ts', text, isTest: false }, isNonDeterministic)).toHaveLength(
      1,
    );
  });

  it('allows a date that is made from a number', () => {
    const source = { path: 'server/a.ts', text: 'new Date(clock.now())', isTest: false };
    expect(nodesOf(source, isNonDeterministic)).toEqual([]);
  });
});

describe('the references to the contract', () => {
  const names = [
    ...headings,
    ...['Resources and their fields', 'Endpoints', 'Device deployments v1, v2'],
  ].map((heading) => heading.replaceAll(/[()]/g, String.raw`\$&`));
  const heading = `(${names.join('|')})`;
  const reference = new RegExp(
    `^(${heading}( \\([\\w ]+\\))?(, (${heading}|rules? \\d( (and|to) \\d)?|"[^"]+"))*|RFC \\d+(, section [\\d.]+)?|(GET|POST|PUT|PATCH) /.*)$`,
  );

  it('name its headings, operations or an RFC', () => {
    const wrong = production.flatMap(({ path, text }) =>
      referencesIn(text)
        .filter((name) => !reference.test(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(wrong).toEqual([]);
  });
});

/** Returns what the docstrings of a source name after `Spec:`. */
function referencesIn(text: string): string[] {
  return [...text.matchAll(/\/\*\*.*?\*\//gs)].flatMap(([comment]) => {
    const joined = comment.replaceAll(/\s*\*\/$|\n *\*(?!\/)/g, '').replaceAll(/\s+/g, ' ');
    const [, references] = / Spec: ([^@]*)/.exec(joined) ?? [];
    return references?.trim().split('; ') ?? [];
  });
}
