/** Reads the version of this package from its manifest. */
import { existsSync, readFileSync } from 'node:fs';

/** Returns the version in `package.json`, found from the sources and from the built folder. */
export function packageVersion(): string {
  const paths = ['../../package.json', '../../../package.json'];
  const manifest = paths.map((server) => new URL(server, import.meta.url)).find(existsSync);
  if (!manifest) throw new Error('package.json is missing beside the built folder');
  return String(JSON.parse(readFileSync(manifest, 'utf8')).version);
}
