/** `npm run docs`: writes the made parts of `simulator/guide.md` anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import { guideWithParts, replaced } from './guide-parts.ts';
import { playQuickStart, shownReport } from './quick-start.ts';

const PORT = 18_080;
/** In the folder of the package. */
const path = 'simulator/guide.md';
const guide = guideWithParts(readFileSync(path, 'utf8'));
const { stdout, stderr, code } = await playQuickStart(guide, PORT);
if (code !== 0) throw new Error(`the quick start ended with ${code}: ${stderr}`);
const shown = `\`\`\`text\n${shownReport(stdout)}\n\`\`\``;
writeFileSync(path, replaced(guide, 'output of the quick start', shown));
