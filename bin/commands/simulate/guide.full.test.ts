import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../testing/free-ports.ts';
import { runQuickStart, shownReport } from './quick-start.ts';

const guide = readFileSync(new URL('../../../simulator/guide.md', import.meta.url), 'utf8');

/** Replaces the times, which differ between runs. */
function withoutTimes(text: string): string {
  return text.replace(/\d+\.\d s/g, 'N s');
}

describe('the guide of simulate', () => {
  it('has a quick start that works as pasted and prints what the guide shows', {
    timeout: 60_000,
  }, async () => {
    const ports = { port: await freePort(), controlPort: await freePort() };
    const { stdout, stderr, code } = await runQuickStart(guide, ports);
    expect(code, stderr).toBe(0);
    const [, shown = ''] =
      /<!-- output of the quick start -->\n\n```text\n(.*?)\n```/s.exec(guide) ?? [];
    expect(withoutTimes(shownReport(stdout))).toBe(withoutTimes(shown));
  });
});
