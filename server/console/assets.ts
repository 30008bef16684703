/** The files of the console page, which Vite builds into `page/` next to this module. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

/** A file of the console page. */
export interface ConsoleAsset {
  /** The path under which the page requests the file. */
  readonly path: string;
  readonly file: URL;
  readonly mediaType: string;
  /** True if the file name changes with the content, so that browsers may cache it for ever. */
  readonly isImmutable: boolean;
  /** True if the file is stored compressed with gzip. */
  readonly isCompressed: boolean;
}

/** When TypeScript sources run directly, the page is in the build folder. */
const folder = import.meta.url.endsWith('.ts')
  ? new URL('../../build/server/console/page/', import.meta.url)
  : new URL('page/', import.meta.url);

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The page itself, served at `/`. */
const page: ConsoleAsset = {
  path: '/',
  file: new URL('index.html', folder),
  mediaType: 'text/html; charset=utf-8',
  isImmutable: false,
  isCompressed: false,
};

/** Lists every file that the page may request. Rejects if the page has not been built. */
export async function listAssets(): Promise<readonly ConsoleAsset[]> {
  const hashed = new URL('assets/', folder);
  const names = await readdir(hashed);
  return [
    page,
    ...names.flatMap((fileName) => {
      const name = basename(fileName, compressed);
      const mediaType = mediaTypes[extname(name)];
      return mediaType === undefined
        ? []
        : [
            {
              path: `/assets/${name}`,
              file: new URL(fileName, hashed),
              mediaType,
              isImmutable: true,
              isCompressed: name !== fileName,
            },
          ];
    }),
  ];
}

const compressed = '.gz';

/** Reads the bytes of an asset as stored, possibly compressed. */
export function readAsset({ file }: ConsoleAsset): Promise<Buffer> {
  return readFile(file);
}

/** Reads the bytes of an asset uncompressed, for a client that does not accept gzip. */
export async function readPlainAsset(asset: ConsoleAsset): Promise<Buffer> {
  const bytes = await readAsset(asset);
  return asset.isCompressed ? promisify(gunzip)(bytes) : bytes;
}
