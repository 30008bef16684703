import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder } from '../testing/documents.ts';

/** All sources without tests, as one text. */
const sources = ['bin', 'server', 'simulator', 'conformance', 'fixtures']
  .flatMap((part) =>
    readdirSync(join(projectFolder, part), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => readFileSync(join(projectFolder, part, file), 'utf8')),
  )
  .join('\n');

const [, troubleshooting = ''] =
  /^## Troubleshooting$(.*?)^## Glossary$/ms.exec(
    readFileSync(join(projectFolder, 'bin/help.md'), 'utf8'),
  ) ?? [];
const texts = [...troubleshooting.matchAll(/^\| `([^`]+)` \|/gm)].map(([, text = '']) => text);

describe('the troubleshooting of the command line', () => {
  it('explains at least a minimum number of error texts', () => {
    expect(texts.length).toBeGreaterThan(20);
  });

  it.each(texts)('explains each text of the program: %s', (text) => {
    for (const part of text.split(/ ?…\)? ?|; /).filter((each) => each.length > 3)) {
      expect(sources.includes(part), part).toBe(true);
    }
  });
});
