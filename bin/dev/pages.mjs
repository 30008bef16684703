/**
 * Builds the pages with Vite into `build/`. The server serves the console from there, and reports
 * embed the other two.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** The console has its own `index.html`; the file names of its assets contain a hash. */
const consoleFolder = 'server/console/page';
/**
 * Each report page is built to one `report.js` and one `report.css`, which are embedded in every
 * report.
 */
const reportFolders = [
  'conformance/report/page',
  'conformance/client-judge/report/page',
  'simulator/report/page',
];

export const pageFolders = [consoleFolder, ...reportFolders];

const oneScriptOneStyle = {
  cssCodeSplit: false,
  rolldownOptions: {
    input: 'main.tsx',
    output: { entryFileNames: 'report.js', assetFileNames: 'report.[ext]' },
  },
};

/**
 * Builds pages.
 * @param root the folder of the clone
 * @param folders the folders of the pages
 * @param plugins plugins of Vite for each of them
 */
export async function buildPages(root, folders, plugins) {
  const { build } = await import('vite');
  for (const folder of folders) {
    await build({
      configFile: false,
      root: join(root, folder),
      base: './',
      publicDir: false,
      plugins,
      logLevel: 'warn',
      oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
      build: {
        outDir: join(root, 'build', folder),
        emptyOutDir: true,
        target: 'es2023',
        // A data: URL would need a wider Content-Security-Policy.
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        ...(reportFolders.includes(folder) ? oneScriptOneStyle : {}),
      },
    });
  }
  if (folders.includes(consoleFolder)) compressAssets(join(root, 'build', consoleFolder, 'assets'));
}

/** Replaces each asset by a gzip file, which every browser accepts. */
function compressAssets(folder) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
    rmSync(file);
  }
}
