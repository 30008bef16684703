/** The files of the console page, next to this one, both in the sources and in the built folder. */
import { readFile } from 'node:fs/promises';

/** One file of the page. */
export interface ConsoleAsset {
  readonly path: string;
  readonly file: string;
  readonly mediaType: string;
}

const style = 'text/css; charset=utf-8';
const script = 'text/javascript; charset=utf-8';

/** Every file that the page may request; the scripts exist in the built folder only. */
export const consoleAssets: readonly ConsoleAsset[] = [
  { path: '/', file: 'index.html', mediaType: 'text/html; charset=utf-8' },
  { path: '/console.css', file: 'console.css', mediaType: style },
  { path: '/overview.css', file: 'overview.css', mediaType: style },
  { path: '/icon.svg', file: 'icon.svg', mediaType: 'image/svg+xml' },
  ...['console', 'connection', 'explanation', 'overview', 'live', 'tables', 'element'].map(
    (name) => ({
      path: `/${name}.js`,
      file: `${name}.js`,
      mediaType: script,
    }),
  ),
];

/** Reads the bytes of an asset. Rejects when the file is missing: the page has not been built. */
export function readAsset(asset: ConsoleAsset): Promise<Buffer> {
  return readFile(new URL(`page/${asset.file}`, import.meta.url));
}
