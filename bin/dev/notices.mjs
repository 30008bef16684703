/**
 * Collects the licences of the packages whose code a bundle contains. They ask that their text goes
 * with each copy.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const packageFolder = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/;

/** Returns a plugin for Rolldown and Vite that adds the folder of each bundled package to a set. */
export const noticing = (folders) => ({
  name: 'noticing',
  generateBundle(_options, output) {
    for (const { moduleIds = [] } of Object.values(output)) {
      for (const id of moduleIds) {
        const [folder] = packageFolder.exec(id.replace(/^\0/, '')) ?? [];
        if (folder !== undefined) folders.add(folder);
      }
    }
  },
});

/** Returns the licences of the packages in these folders as one text, by name of the package. */
export function noticesOf(folders) {
  const notices = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    );
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
    return `${name} ${version}: ${license}\n\n${text}`.trim();
  });
  const rule = `\n\n${'-'.repeat(80)}\n\n`;
  return `The files of this folder contain code of these packages.${rule}${[...new Set(notices)].sort().join(rule)}\n`;
}
