/** `npm run docs`: regenerates the generated parts of the guides. */
import { readFileSync, writeFileSync } from 'node:fs';
import { guideParts, guidePictures, guideWithParts } from './guide-parts.ts';

for (const path of Object.keys(guideParts)) {
  writeFileSync(path, guideWithParts(path, readFileSync(path, 'utf8')));
}
for (const [path, picture] of Object.entries(guidePictures)) writeFileSync(path, picture());
