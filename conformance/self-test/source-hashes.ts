/**
 * Hashes the code that determines the result of a self-test: cases, model, defects and the judge of
 * exchanges, each with the modules that it imports from these folders and from those below them.
 * Comments, white space and import paths do not affect the hashes.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The judge of the suite's exchanges, which affects the verdict of every case. */
export const suiteTrafficJudge = 'conformance/passive/suite-traffic-judge.ts';

const decidingFolders = ['conformance/cases', 'conformance/model', 'conformance/self-test/defects'];

/** Folders whose modules count towards the hash of each deciding module that imports them. */
const importedFolders = [
  // Nearly every case reaches these three, so a change of an expectation makes every result again.
  'conformance/context',
  'conformance/signing',
  'conformance/target',
  'conformance/passive',
  'conformance/suite',
];

/** Modules that only list the contents of other modules, and are therefore not hashed. */
const lists: ReadonlySet<string> = new Set([
  'conformance/cases/all-cases.ts',
  'conformance/self-test/defects/index.ts',
]);

/** The hash of each deciding module, by its path from the root of the package. */
export type CodeHashes = Readonly<Record<string, string>>;

/** Returns the root folder of the package, for a run from the sources or from the build. */
export function packageFolder(): string {
  const locations = ['../../', '../../../'].map((location) => new URL(location, import.meta.url));
  const folder = locations.find((location) => existsSync(new URL('package.json', location)));
  if (!folder) throw new Error('package.json is missing beside the built folder');
  return fileURLToPath(folder);
}

/**
 * Computes the hashes of the sources.
 * @param read returns the text of a module by its path from the root of the package
 */
export async function codeHashes(read: (path: string) => string = sourceText): Promise<CodeHashes> {
  const sources = new Map<string, ModuleSource>();
  const deciding = modulesIn(decidingFolders);
  for (const path of [...deciding, ...modulesIn(importedFolders)]) {
    sources.set(path, await parsedOnce(read(path), path));
  }
  const hashed = [...deciding, suiteTrafficJudge];
  return Object.fromEntries(hashed.map((path) => [path, hashOf(path, sources)]));
}

/** Returns the current text of a module, by its path from the root of the package. */
export function sourceText(path: string): string {
  return readFileSync(join(packageFolder(), path), 'utf8');
}

/** Returns the path of the module of each case and each defect, by ID. */
export async function modulesById(): Promise<ReadonlyMap<string, string>> {
  const modules = new Map<string, string>();
  const isSource = import.meta.url.endsWith('.ts');
  for (const path of modulesIn(decidingFolders)) {
    // The bundled command has no file for each module, so the module is loaded from the build.
    const module = isSource ? path : join('build', path.replace(/\.ts$/, '.js'));
    const url = pathToFileURL(join(packageFolder(), module));
    const exported: Readonly<Record<string, unknown>> = await import(url.href);
    for (const id of Object.values(exported).flatMap(idsIn)) modules.set(id, path);
  }
  return modules;
}

/** The tokens of a module without comments and import paths, and the modules that it imports. */
interface ModuleSource {
  readonly tokens: string;
  readonly imports: readonly string[];
}

/** The modules parsed so far, by path and text, because a self-test computes the hashes often. */
const parsedModules = new Map<string, Promise<ModuleSource>>();

function parsedOnce(text: string, path: string): Promise<ModuleSource> {
  const key = `${path}\n${text}`;
  const parsed = parsedModules.get(key) ?? readSource(text, path);
  parsedModules.set(key, parsed);
  return parsed;
}

/** Parses a module. The parser is a development dependency, so it is imported on demand. */
export async function readSource(text: string, path: string): Promise<ModuleSource> {
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
      readdirSync(join(packageFolder(), folder), { encoding: 'utf8', recursive: true }).map(
        (path) => `${folder}/${path}`,
      ),
    )
    .filter((path) => /(?<!\.test)\.ts$/.test(path) && !lists.has(path))
    .sort();
}

/** Returns the first half of a SHA-256 over a module and its imports from the known folders. */
function hashOf(path: string, sources: ReadonlyMap<string, ModuleSource>): string {
  const paths = new Set([path]);
  for (const each of paths)
    for (const importedPath of sources.get(each)?.imports ?? []) paths.add(importedPath);
  const hash = createHash('sha256');
  for (const each of paths) hash.update(`${sources.get(each)?.tokens ?? ''}\0`);
  return hash.digest('hex').slice(0, 32);
}

function idsIn(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: { readonly id?: unknown } | undefined) =>
    typeof each?.id === 'string' ? [each.id] : [],
  );
}
