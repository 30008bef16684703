/** The files of the console page, which Vite builds into `page/` next to this module. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

/** One file of the page. */
export interface ConsoleAsset {
  /** Its path in the page's address. */
  readonly path: string;
  readonly file: URL;
  readonly mediaType: string;
  /** True when the name changes with the content, so that it may be kept for ever. */
  readonly isImmutable: boolean;
  /** True when it is kept in the form of gzip. */
  readonly isCompressed: boolean;
}

/** Sources that run as they are have their page in the built folder. */
const folder = import.meta.url.endsWith('.ts')
  ? new URL('../../build/server/console/page/', import.meta.url)
  : new URL('page/', import.meta.url);

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The page itself is at `/`. */
const page: ConsoleAsset = {
  path: '/',
  file: new URL('index.html', folder),
  mediaType: 'text/html; charset=utf-8',
  isImmutable: false,
  isCompressed: false,
};

/** Every file that the page may request. Rejects when the page has not been built. */
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
              ...{ path: `/assets/${name}`, file: new URL(fileName, hashed), mediaType },
              ...{ isImmutable: true, isCompressed: name !== fileName },
            },
          ];
    }),
  ];
}

const compressed = '.gz';

/** Reads the stored bytes of an asset. */
export function readAsset({ file }: ConsoleAsset): Promise<Buffer> {
  return readFile(file);
}

/** The bytes of an asset for a client that takes none that are compressed. */
export async function readPlainAsset(asset: ConsoleAsset): Promise<Buffer> {
  const bytes = await readAsset(asset);
  return asset.isCompressed ? promisify(gunzip)(bytes) : bytes;
}
