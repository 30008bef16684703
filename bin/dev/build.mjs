/**
 * Builds a clone whose packages are installed: the pages, the package's `dist/`, and in `build/`
 * one JavaScript file per source, which benchmarks and other tools run. `build` does not check
 * types, so that a fresh clone runs within seconds; `checkTypes` does.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, placeDeclarations } from './bundle.mjs';
import { noticing } from './notices.mjs';
import { buildPages, pageFolders } from './pages.mjs';

const sourceFolders = ['bin', 'conformance', 'fixtures', 'server', 'simulator'];
/** Folders with files other than sources that the built code reads at run time. */
const assetFolders = ['fixtures/vectors', 'fixtures/worlds'];
const builtCommand = 'dist/bin/fleetbed.js';

const isTest = (file) => file.endsWith('.test.ts');
const isForPeople = (file) => /(\.py|README\.md)$/.test(file);
const isSource = (file) => /\.tsx?$|tsconfig\.json$/.test(file);

/** Returns every file below the folders of a clone, as sorted paths from its root. */
function filesBelow(root, folders) {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/**
 * Returns the files that a build depends on; with `tests`, the files that the type check depends
 * on.
 */
export function inputsOf(root, { tests }) {
  return filesBelow(root, sourceFolders).filter((file) => tests || !isTest(file));
}

/** Rebuilds `build/` and `dist/`. @param say called with a line for each step */
export async function build(root, say) {
  const buildFolder = join(root, 'build');
  for (const name of existsSync(buildFolder) ? readdirSync(buildFolder) : []) {
    if (name !== 'types') rmSync(join(buildFolder, name), { recursive: true, force: true });
  }
  const pages = pageFolders.filter((folder) => existsSync(join(root, folder)));
  const packages = new Set();
  if (pages.length > 0) {
    say('building the pages');
    await buildPages(root, pages, [noticing(packages)]);
  }
  say('building the command');
  const assets = filesBelow(root, assetFolders).filter((file) => !isSource(file));
  await transpile(root, pages);
  const read = assets.filter((file) => !isForPeople(file));
  for (const file of read) copyInto(join(root, 'build'), root, file);
  const built = pages.map((folder) => join('build', folder));
  const ofPages = filesBelow(root, built).map((file) => relative('build', file));
  await bundle(root, [...read, ...ofPages], packages);
  await chmod(join(root, builtCommand), 0o755);
}

function copyInto(target, root, file) {
  mkdirSync(dirname(join(target, file)), { recursive: true });
  copyFileSync(join(root, file), join(target, file));
}

/** Writes each source except tests and pages as JavaScript, without its types. */
async function transpile(root, pages) {
  const { transform } = await import('rolldown/utils');
  const isPage = (file) => [...pages, 'fixtures/page'].some((page) => file.startsWith(`${page}/`));
  const sources = inputsOf(root, { tests: false }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !isPage(file),
  );
  const typescript = { rewriteImportExtensions: 'rewrite', onlyRemoveTypeImports: true };
  for (const file of sources) {
    const text = readFileSync(join(root, file), 'utf8');
    const { code, errors } = await transform(file, text, { target: 'es2023', typescript });
    if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
    const output = join(root, 'build', file.replace(/\.ts$/, '.js'));
    await mkdir(dirname(output), { recursive: true });
    await writeFile(output, code);
  }
}

/**
 * Checks the types of all sources, tests and pages, and copies the declarations of the package's
 * exports to `dist/`.
 * @param run runs a program; resolves with `done`, true for success, and with `how` it ended
 */
export async function checkTypes(root, run) {
  const pages = pageFolders.filter((folder) => existsSync(join(root, folder)));
  const projects = [root, ...pages.map((folder) => join(root, folder))];
  // The native compiler is used only here: dependency checks and documentation need the API of
  // `typescript`.
  const compiler = new URL('bin/tsc', import.meta.resolve('typescript-native/package.json'));
  const { done, how } = await run(process.execPath, [fileURLToPath(compiler), '-b', ...projects]);
  if (done) placeDeclarations(root);
  return { done, how };
}
