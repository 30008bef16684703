/** `npm run docs`: regenerates the generated parts of the guides. */
import { readFileSync, writeFileSync } from 'node:fs';
import { runQuickStart, shownReport } from '../commands/simulate/quick-start.ts';
import { guideParts, guidePictures, guideWithParts, replaced } from './guide-parts.ts';

const PORTS = { port: 18_080, controlPort: 18_081 };
/** Path of the guide, relative to the folder of the package. */
const quickStartGuide = 'simulator/guide.md';
for (const path of Object.keys(guideParts)) {
  writeFileSync(path, guideWithParts(path, readFileSync(path, 'utf8')));
}
for (const [path, picture] of Object.entries(guidePictures)) writeFileSync(path, picture());
const guide = readFileSync(quickStartGuide, 'utf8');
const { stdout, stderr, code } = await runQuickStart(guide, PORTS);
if (code !== 0) throw new Error(`the quick start ended with ${code}: ${stderr}`);
const shown = `\`\`\`text\n${shownReport(stdout)}\n\`\`\``;
writeFileSync(quickStartGuide, replaced(guide, 'output of the quick start', shown));
