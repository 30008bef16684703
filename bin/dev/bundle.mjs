/**
 * Bundles the sources into the package's `dist/`: a file for each way in, and chunks that are loaded
 * when they are first needed. It starts in half the time that hundreds of small files take.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** What is run or imported: its place in `dist/`, one folder deep as the chunks are, and its module. */
const entries = {
  'bin/fleetbed': 'bin/fleetbed.ts',
  'server/testbed': 'server/testbed.ts',
  'simulator/behaviour': 'simulator/behaviours/behaviour.ts',
};
/** The types of what is imported. */
const types = ['server/testbed.d.ts', 'simulator/behaviours/behaviour.d.ts'];

/**
 * Packages that are needed now and then, have native parts or find files beside themselves. The
 * others would be read from many small files at every start.
 */
const external = [
  /^node:/,
  /^(libsql|bullmq|ioredis|typescript|fast-check|undici|node-forge|hdr-histogram-js|re2js)(\/|$)/,
];

/** A bundled module finds the files beside it where they were, not beside the chunk. */
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

/** Of the types of media only those that a file name or a charset leads to; the rest is asked by nobody. */
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

/** The SQL engine looks for its program beside itself: in the folder of the chunks, once bundled. */
const sqlEngine = {
  name: 'sql-engine',
  transform(_code, id) {
    if (!id.endsWith('sql-wasm.js')) return null;
    const source = readFileSync(id.replace(/js$/, 'wasm'));
    this.emitFile({ type: 'asset', fileName: 'chunks/sql-wasm.wasm', source });
    return null;
  },
};
/** What the engine knows its folder by, which only CommonJS has. */
const define = { __dirname: 'import.meta.dirname' };

/** Makes `dist/` anew. @param assets files that are read at run time: paths from `build/` */
export async function bundle(root, assets) {
  const { rolldown } = await import('rolldown');
  const dist = join(root, 'dist');
  rmSync(dist, { recursive: true, force: true });
  const input = Object.fromEntries(
    Object.entries(entries).map(([name, module]) => [name, join(root, module)]),
  );
  const made = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    external,
    plugins: [ownPlace(root), fewerMediaTypes, sqlEngine],
    // Replacements of packages in the bundle.
    resolve: { alias: { 'iconv-lite': join(root, 'bin/dev/text-decoders.ts') } },
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
}

/** Copies the declarations of what the package exports, and those that they lead to, into `dist/`. */
export function placeDeclarations(root) {
  const from = join(root, 'build', 'types');
  for (const file of typesReached(from)) place(join(from, file), join(root, 'dist', file));
}

/** Data needs no layout, as only programs read it, and types need no spaces four by four. */
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

/** The declarations to which the exported types lead. */
function typesReached(from) {
  const reached = new Set(types);
  for (const file of reached) {
    const text = readFileSync(join(from, file), 'utf8');
    for (const [, path] of text.matchAll(/["'](\.[^"']+)\.ts["']/g)) {
      reached.add(`${join(dirname(file), path)}.d.ts`);
    }
  }
  return [...reached];
}
