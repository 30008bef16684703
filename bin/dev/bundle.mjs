/**
 * Bundles the sources into the package's `dist/`: one file per entry point, and chunks that are
 * loaded when they are first needed. A bundle starts in half the time of several hundred small
 * files.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { noticesOf, noticing } from './notices.mjs';

/**
 * Returns the entry points: the command, and the modules that `package.json` exports. Each is named
 * by its path in `dist/`, which is one folder deep like the paths of chunks; its source is where its
 * declarations are.
 */
function entriesOf(root) {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const inDist = (path, extension) => path.slice('./dist/'.length, -extension.length);
  const modules = Object.values(exports).filter(({ types }) => types !== undefined);
  return {
    'bin/fleetbed': 'bin/fleetbed',
    ...Object.fromEntries(
      modules.map(({ types, default: file }) => [inDist(file, '.js'), inDist(types, '.d.ts')]),
    ),
  };
}

/**
 * Packages that stay outside of the bundle, because they are rarely needed, have native parts or
 * read files of their own folder. Bundling all others saves reading many small files at every
 * start.
 */
const external = [
  /^node:/,
  /^(vitest|libsql|bullmq|ioredis|typescript|fast-check|undici|node-forge|hdr-histogram-js|re2js)(\/|$)/,
];

/**
 * Keeps `import.meta.url` pointing to the original location of a module, so that it finds the files
 * next to it.
 */
const ownPlace = (root) => ({
  name: 'own-place',
  transform(code, id) {
    const file = relative(root, id);
    const isOurs = file.endsWith('.ts') && !file.startsWith('node_modules');
    if (!isOurs || !code.includes('import.meta.url')) return null;
    const place = JSON.stringify(`../${file.replace(/\.ts$/, '.js')}`);
    return code.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`);
  },
});

/**
 * Reduces the table of media types to those with a file name extension or a charset; the others are
 * never looked up.
 */
const fewerMediaTypes = {
  name: 'fewer-media-types',
  transform(code, id) {
    if (!id.endsWith(join('mime-db', 'db.json'))) return null;
    const kept = Object.entries(JSON.parse(code))
      .filter(([, { extensions, charset }]) => extensions || charset)
      .map(([type, { source, extensions, charset }]) => [type, { source, extensions, charset }]);
    return JSON.stringify(Object.fromEntries(kept));
  },
};

/**
 * Copies the WebAssembly file of the SQL engine next to the chunks, where the bundled engine looks
 * for it.
 */
const sqlEngine = {
  name: 'sql-engine',
  transform(_code, id) {
    if (!id.endsWith('sql-wasm.js')) return null;
    const source = readFileSync(id.replace(/js$/, 'wasm'));
    this.emitFile({ type: 'asset', fileName: 'chunks/sql-wasm.wasm', source });
    return null;
  },
};
/** Replaces `__dirname`, which only CommonJS has and by which the SQL engine finds its folder. */
const define = { __dirname: 'import.meta.dirname' };

/**
 * Rebuilds `dist/`.
 * @param assets files that are read at run time, as paths from `build/`
 * @param packages folders of the packages that are part of the assets
 */
export async function bundle(root, assets, packages) {
  const { rolldown } = await import('rolldown');
  const dist = join(root, 'dist');
  rmSync(dist, { recursive: true, force: true });
  const input = Object.fromEntries(
    Object.entries(entriesOf(root)).map(([name, module]) => [name, join(root, `${module}.ts`)]),
  );
  const made = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    external,
    plugins: [ownPlace(root), fewerMediaTypes, sqlEngine, noticing(packages)],
    // Packages that are replaced in the bundle, or whose ES module leaves out what is not used.
    resolve: {
      alias: {
        'iconv-lite': join(root, 'bin/dev/text-decoders.ts'),
        'hash-wasm': 'hash-wasm/dist/index.esm.js',
      },
    },
    transform: { define },
  });
  await made.write({
    dir: dist,
    format: 'esm',
    minify: true,
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  await made.close();
  for (const file of assets) place(join(root, 'build', file), join(dist, file));
  writeFileSync(join(dist, 'third-party-licences.txt'), noticesOf(packages));
}

/** Copies the declarations of the package's exports, and all that they import, into `dist/`. */
export function placeDeclarations(root) {
  const from = join(root, 'build', 'types');
  const modules = Object.values(entriesOf(root)).filter((module) => module !== 'bin/fleetbed');
  for (const file of typesReached(from, modules)) place(join(from, file), join(root, 'dist', file));
}

/**
 * Copies a file, and removes whitespace that nobody reads: the layout of JSON, and three of four
 * spaces in the indentation of declarations.
 */
function place(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  const read = () => readFileSync(from, 'utf8');
  if (from.endsWith('.json')) writeFileSync(to, JSON.stringify(JSON.parse(read())));
  else if (from.endsWith('.d.ts'))
    writeFileSync(
      to,
      read().replaceAll(/^ +/gm, (indent) => ' '.repeat(indent.length / 4)),
    );
  else copyFileSync(from, to);
}

/** Returns the declaration files of the modules, and those that they import directly or indirectly. */
function typesReached(from, modules) {
  const reached = new Set(modules.map((module) => `${module}.d.ts`));
  for (const file of reached) {
    const text = readFileSync(join(from, file), 'utf8');
    for (const [, path] of text.matchAll(/["'](\.[^"']+)\.ts["']/g)) {
      reached.add(`${join(dirname(file), path)}.d.ts`);
    }
  }
  return [...reached];
}
