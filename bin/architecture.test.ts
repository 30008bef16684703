import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What the files of a folder may import: folders of the project (with all below), and packages. */
interface Rule {
  readonly folders: readonly string[];
  readonly packages: readonly string[];
}

const serverPackages = [
  'express',
  'ws',
  'sql.js',
  'node-forge',
  '@fastify/busboy',
  'send',
  'csv-stringify',
  'consola',
  'valibot',
  'yaml',
  '@valibot/to-json-schema',
];

const simulatorPackages = [
  'undici',
  'ws',
  'hdr-histogram-js',
  'fast-xml-parser',
  'valibot',
  '@valibot/to-json-schema',
  'prom-client',
];

/** The longest folder that holds a file decides. A trailing slash means: files right there only. */
const rules: Readonly<Record<string, Rule>> = {
  fixtures: {
    folders: ['fixtures'],
    packages: ['valibot', 'tar-stream', '@msgpack/msgpack', 'yaml', 'tinyqueue'],
  },
  server: { folders: ['fixtures', 'server'], packages: without('sql.js') },
  'server/rules': { folders: ['fixtures', 'server/rules'], packages: [] },
  'server/store': {
    folders: ['fixtures', 'server/store', 'server/rules', 'server/'],
    packages: ['sql.js', 'libsql', 'valibot'],
  },
  'server/crypto': {
    folders: ['fixtures', 'server/crypto', 'server/'],
    packages: ['node-forge', 'valibot'],
  },
  'server/http': {
    folders: [
      'fixtures',
      'server/http',
      'server/store',
      'server/crypto',
      'server/journal',
      'server/faults',
      'server/vary',
      'server/explain',
      'server/limiter',
      'server/',
    ],
    packages: ['express', 'ws', 'send', 'valibot'],
  },
  'server/endpoints': { folders: endpointsMay('endpoints'), packages: without('sql.js') },
  'server/management': { folders: endpointsMay('management'), packages: without('sql.js') },
  'server/connect': {
    folders: [
      'fixtures',
      'server/connect',
      'server/store',
      'server/rules',
      'server/journal',
      'server/faults',
      'server/',
    ],
    packages: ['ws', 'valibot'],
  },
  'server/doctor': { folders: ['fixtures', 'server/doctor', 'server/crypto'], packages: [] },
  'server/journal': {
    folders: [
      'fixtures',
      'server/journal',
      'server/http',
      'server/vary',
      'server/rules',
      'server/faults',
      'server/',
    ],
    packages: ['ws', 'valibot'],
  },
  'server/explain': {
    folders: [
      'fixtures',
      'server/explain',
      'server/http',
      'server/journal',
      'server/crypto',
      'server/rules',
      'server/store',
      'server/',
    ],
    packages: ['valibot'],
  },
  'server/vary': { folders: ['fixtures', 'server/vary'], packages: ['valibot'] },
  'server/limiter': { folders: ['fixtures', 'server/limiter'], packages: [] },
  'server/tls': { folders: ['fixtures', 'server/tls', 'server/'], packages: ['node-forge'] },
  'server/control': {
    folders: [
      'fixtures',
      'server/control',
      'server/console',
      'server/journal',
      'server/faults',
      'server/explain',
      'server/limiter',
      'server/worlds',
      'server/',
    ],
    packages: ['express', 'valibot'],
  },
  'server/console': { folders: ['fixtures', 'server/console'], packages: [] },
  'server/console/page': { folders: ['server/console/page'], packages: [] },
  simulator: { folders: ['fixtures', 'simulator'], packages: simulatorPackages },
  'simulator/plan': roomOf('plan'),
  'simulator/result': roomOf('result', 'plan'),
  'simulator/network': roomOf('network', 'plan'),
  'simulator/identity': roomOf('identity', 'network', 'result'),
  'simulator/behaviours': roomOf('behaviours', 'network', 'plan'),
  'simulator/client': roomOf('client', 'network', 'identity'),
  'simulator/metrics': roomOf('metrics', 'network', 'result'),
  'simulator/device': roomOf(
    ...['device', 'plan', 'identity', 'network', 'client', 'behaviours', 'metrics', 'result'],
  ),
  'simulator/state': roomOf(
    ...['state', 'plan', 'identity', 'network', 'client', 'device', 'behaviours'],
  ),
  'simulator/engine': roomOf(
    ...['engine', 'plan', 'identity', 'network', 'client', 'behaviours', 'device', 'state'],
    ...['metrics', 'result'],
  ),
  'simulator/report': roomOf('report', 'result', 'device'),
  'simulator/cluster/redis': {
    folders: ['fixtures', 'simulator'],
    packages: ['bullmq', 'ioredis', 'valibot'],
  },
  conformance: {
    folders: ['fixtures', 'conformance'],
    packages: [
      'undici',
      'ws',
      'node-forge',
      'tweetnacl',
      'fast-xml-parser',
      'valibot',
      '@valibot/to-json-schema',
      'csv-stringify',
      'fast-check',
      'yaml',
    ],
  },
  'simulator/report/page': { folders: ['simulator/report/page'], packages: [] },
  'conformance/report/page': { folders: ['conformance/report/page'], packages: [] },
  bin: {
    folders: ['fixtures', 'server', 'simulator', 'conformance', 'bin'],
    packages: [
      ...['commander', 'consola', 'cli-table3', 'ical-generator', 'log-update', 'undici', 'yaml'],
    ],
  },
  'bin/bench': { folders: ['fixtures', 'server', 'simulator', 'bin'], packages: ['autocannon'] },
  'bin/soak': { folders: ['fixtures', 'bin'], packages: ['fast-check'] },
};

/** A room of the simulator, and what it may look into. */
function roomOf(...rooms: readonly string[]): Rule {
  const folders = ['fixtures', ...rooms.map((room) => `simulator/${room}`)];
  return { folders, packages: simulatorPackages };
}

function without(name: string): string[] {
  return serverPackages.filter((other) => other !== name);
}

function endpointsMay(own: 'endpoints' | 'management'): string[] {
  const parts = ['rules', 'store', 'crypto', 'http', 'doctor', own].map((part) => `server/${part}`);
  return ['fixtures', ...parts, 'server/'];
}

interface Source {
  /** From the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly isTest: boolean;
}

const folders = Object.keys(rules).filter((folder) => !folder.includes('/'));
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

/** The rule of the nearest folder; a test may reach through its whole part of the house. */
function ruleFor({ path, isTest }: Source): Rule {
  const holders = Object.keys(rules).filter((folder) => path.startsWith(`${folder}/`));
  const byLength = holders.toSorted((one, other) => other.length - one.length);
  const rule = rules[(isTest ? byLength.at(-1) : byLength[0]) ?? ''];
  if (!rule) throw new Error(`${path} is in no folder of the house`);
  return rule;
}

function isBelow(target: string, folder: string): boolean {
  if (!folder.endsWith('/')) return target.startsWith(`${folder}/`);
  return target.startsWith(folder) && !target.slice(folder.length).includes('/');
}

function importsOf({ text }: Source): string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
}

/** The package of a module's name: `consola/basic` is of `consola`. */
function packageOf(module: string): string {
  const parts = module.split('/');
  return module.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? module);
}

/** Imports that no rule allows, as lines to read. */
function wrongImports(source: Source): string[] {
  const { folders: allowed, packages } = ruleFor(source);
  return importsOf(source)
    .filter((module) => {
      if (module.startsWith('node:')) return false;
      if (!module.startsWith('.')) return !source.isTest && !packages.includes(packageOf(module));
      const target = join(dirname(source.path), module).replaceAll('\\', '/');
      if (!source.isTest && isTestFile(target)) return true;
      return !allowed.some((folder) => isBelow(target, folder));
    })
    .map((module) => `${source.path} imports ${module}`);
}

/** Every node of a file's syntax tree that the test picks, with its place. */
function nodesOf({ path, text }: Source, picks: (node: ts.Node) => boolean): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (picks(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.push(`${path}:${line + 1} ${node.getText().slice(0, 80)}`);
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

function touchesRealWorld(node: ts.Node): boolean {
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

describe('the house', () => {
  it('imports in the allowed directions only, and only the packages of its folder', () => {
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.flatMap(wrongImports)).toEqual([]);
  });

  it('spells API paths in the contract and in the cases only', () => {
    const others = production.filter(
      ({ path }) => !path.startsWith('fixtures/') && !path.startsWith('conformance/cases/'),
    );
    const spelled = others.flatMap((source) =>
      nodesOf(source, (node) => isText(node) && node.text.includes('/api/')),
    );
    expect(spelled).toEqual([]);
  });

  it('touches real time and chance in two files only, and its own process in a third', () => {
    const process = 'simulator/metrics/generator-machine.ts';
    const allowed = ['fixtures/clock.ts', 'fixtures/random.ts', process];
    const others = production.filter(
      // The page runs in a browser, which has no other clock.
      ({ path }) => !allowed.includes(path) && !path.startsWith('server/console/page/'),
    );
    expect(others.flatMap((source) => nodesOf(source, touchesRealWorld))).toEqual([]);
  });

  it('keeps the SQL engine in the store', () => {
    const users = sources.filter((source) => importsOf(source).includes('sql.js'));
    expect(users.map(({ path }) => dirname(path))).toEqual(['server/store']);
  });
});

describe('the rules themselves', () => {
  const wrong = (path: string, text: string) => wrongImports({ path, text, isTest: false });

  it.each([
    ['server/endpoints/a.ts', "import { x } from '../../simulator/simulator.ts';"],
    ['simulator/a.ts', "export * from '../server/server.ts';"],
    ['conformance/a.ts', "const x = await import('../simulator/engine/simulate-fleet.ts');"],
    ['fixtures/a.ts', "import type { X } from '../server/settings.ts';"],
    ['server/a.ts', "import { x } from '../bin/output.ts';"],
    ['server/rules/a.ts', "import { x } from '../store/store.ts';"],
    ['server/control/a.ts', "import { x } from '../endpoints/endpoints.ts';"],
    ['server/endpoints/a.ts', "import { x } from '../management/management.ts';"],
    ['server/endpoints/a.ts', "import sql from 'sql.js';"],
    ['simulator/a.ts', "import forge from 'node-forge';"],
    ['bin/a.ts', "import x from 'left-pad';"],
    ['server/http/a.ts', "import { x } from './testing/x.ts';"],
  ])('catch %s with %s', (path, text) => {
    expect(wrong(path, text)).toHaveLength(1);
  });

  it('hold tests to the directions between the parts', () => {
    const test = (text: string) => ({ path: 'server/http/a.test.ts', text, isTest: true });
    expect(wrongImports(test("import { x } from '../../simulator/x.ts';"))).toHaveLength(1);
    expect(wrongImports(test("import { x } from '../testing/x.ts';"))).toEqual([]);
  });

  it('allow what the architecture allows', () => {
    expect(wrong('bin/a.ts', "import { x } from '../server/server.ts';")).toEqual([]);
    expect(wrong('server/endpoints/a.ts', "import { x } from '../services.ts';")).toEqual([]);
    expect(wrong('server/a.ts', "import { x } from 'consola/basic';")).toEqual([]);
  });

  it.each([
    'new Date()',
    'Date.now()',
    'crypto.randomUUID()',
    'setTimeout(f, 1)',
    "import { setTimeout } from 'node:timers/promises'",
  ])('catch %s', (text) => {
    expect(nodesOf({ path: 'server/a.ts', text, isTest: false }, touchesRealWorld)).toHaveLength(1);
  });

  it('let a moment be made from a number', () => {
    const source = { path: 'server/a.ts', text: 'new Date(clock.now())', isTest: false };
    expect(nodesOf(source, touchesRealWorld)).toEqual([]);
  });
});
