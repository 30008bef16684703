/**
 * The code that decides what a self-test results in: cases, model, defects and the judge of
 * invariants, each with the modules of these rooms that it imports. Comments, blanks and paths of
 * imports decide nothing.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** What is held against every exchange bears on the verdict of every case. */
export const invariantJudge = 'conformance/passive/invariant-judge.ts';

const decidingFolders = ['conformance/cases', 'conformance/model', 'conformance/self-test/defects'];

/** What a deciding module imports of these bears on what it decides. */
const importedFolders = ['conformance/passive', 'conformance/passive/rules', 'conformance/suite'];

/** Modules that only list what the others hold. */
const lists: ReadonlySet<string> = new Set([
  'conformance/cases/all-cases.ts',
  'conformance/self-test/defects/index.ts',
]);

/** By the path of each module from the root, a hash of what it decides. */
export type CodeHashes = Readonly<Record<string, string>>;

/** The folder of the package, whether this runs from the sources or from the built folder. */
export function packageFolder(): string {
  const places = ['../../', '../../../'].map((place) => new URL(place, import.meta.url));
  const found = places.find((place) => existsSync(new URL('package.json', place)));
  if (!found) throw new Error('package.json is missing beside the built folder');
  return fileURLToPath(found);
}

/** The hashes of the sources as they are. */
export async function codeHashes(): Promise<CodeHashes> {
  const sources = new Map<string, Source>();
  const deciding = modulesIn(decidingFolders);
  for (const path of [...deciding, ...modulesIn(importedFolders)]) {
    sources.set(path, await readSource(readFileSync(join(packageFolder(), path), 'utf8'), path));
  }
  const hashed = [...deciding, invariantJudge];
  return Object.fromEntries(hashed.map((path) => [path, hashOf(path, sources)]));
}

/** The module of each case and of each defect, by id. */
export async function modulesById(): Promise<ReadonlyMap<string, string>> {
  const modules = new Map<string, string>();
  const isSource = import.meta.url.endsWith('.ts');
  for (const path of modulesIn(decidingFolders)) {
    // The bundled command has no file for each module; the build has.
    const module = isSource ? path : join('build', path.replace(/\.ts$/, '.js'));
    const url = pathToFileURL(join(packageFolder(), module));
    const exported: Readonly<Record<string, unknown>> = await import(url.href);
    for (const id of Object.values(exported).flatMap(idsIn)) modules.set(id, path);
  }
  return modules;
}

/** What of a module's text decides, and the deciding modules that it imports. */
interface Source {
  readonly tokens: string;
  readonly imports: readonly string[];
}

/** Reads a module. Only who works on the sources has the parser. */
export async function readSource(text: string, path: string): Promise<Source> {
  const { default: ts } = await import('typescript');
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const tokens: string[] = [];
  const imports: string[] = [];
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement) && ts.isStringLiteral(statement.moduleSpecifier)) {
      imports.push(join(path, '..', statement.moduleSpecifier.text));
      continue;
    }
    const addTokens = (node: import('typescript').Node): void => {
      if (ts.isJSDoc(node)) return;
      const children = node.getChildren(file);
      if (children.length > 0) for (const child of children) addTokens(child);
      else tokens.push(node.getText(file));
    };
    addTokens(statement);
  }
  return { tokens: tokens.join('\n'), imports };
}

function modulesIn(folders: readonly string[]): readonly string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(packageFolder(), folder)).map((name) => `${folder}/${name}`),
    )
    .filter((path) => /(?<!\.test)\.ts$/.test(path) && !lists.has(path))
    .sort();
}

/** SHA-256 over the module and all that it imports of these folders; the first half will do. */
function hashOf(path: string, sources: ReadonlyMap<string, Source>): string {
  const reached = new Set([path]);
  for (const each of reached)
    for (const next of sources.get(each)?.imports ?? []) reached.add(next);
  const hash = createHash('sha256');
  for (const each of reached) hash.update(`${sources.get(each)?.tokens ?? ''}\0`);
  return hash.digest('hex').slice(0, 32);
}

function idsIn(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: { readonly id?: unknown } | undefined) =>
    typeof each?.id === 'string' ? [each.id] : [],
  );
}
