import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { playQuickStart, shownReport } from './quick-start.ts';

const guide = readFileSync(new URL('../../simulator/guide.md', import.meta.url), 'utf8');

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Times differ from run to run. */
function withoutTimes(text: string): string {
  return text.replace(/\d+\.\d s/g, 'N s');
}

describe('the guide of simulate', () => {
  it('has a quick start that works pasted as it is, and shows what it prints', {
    timeout: 60_000,
  }, async () => {
    const { stdout, stderr, code } = await playQuickStart(guide, await freePort());
    expect(code, stderr).toBe(0);
    const [, shown = ''] =
      /<!-- output of the quick start -->\n\n```text\n(.*?)\n```/s.exec(guide) ?? [];
    expect(withoutTimes(shownReport(stdout))).toBe(withoutTimes(shown));
  });
});
