/** Builds the pages with Vite into `build/`, from where they are served or written into reports. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Has an `index.html` of its own; what it loads gets a hashed name. */
const consoleFolder = 'server/console/page';
/** Each becomes `report.js` and `report.css`, which are written into every report. */
const reportFolders = ['conformance/report/page', 'simulator/report/page'];

export const pageFolders = [consoleFolder, ...reportFolders];

const oneScriptOneStyle = {
  cssCodeSplit: false,
  rolldownOptions: {
    input: 'main.tsx',
    output: { entryFileNames: 'report.js', assetFileNames: 'report.[ext]' },
  },
};

/** @param root the folder of the clone @param folders those of the pages to build */
export async function buildPages(root, folders) {
  const { build } = await import('vite');
  for (const folder of folders) {
    await build({
      configFile: false,
      root: join(root, folder),
      base: './',
      publicDir: false,
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

/** Every browser takes them so. */
function compressAssets(folder) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
    rmSync(file);
  }
}
