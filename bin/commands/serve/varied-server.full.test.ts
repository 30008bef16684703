import { describe, expect, it } from 'vitest';
import { variationRows } from '../../../server/variation/variations.ts';
import { runCommand, startServe } from '../../testing/built-command.ts';

describe('serve --variation', () => {
  it('applies the named variations, and no other, to every response', async () => {
    const args = ['--variation', 'chunked,json-spaces', '--variation', 'media-type'];
    const { ready, running } = await startServe(args);
    try {
      const headers = { Authorization: `Bearer ${ready.controlToken}` };
      const response = await fetch(`${ready.controlUrl}/variations`, { headers });
      const { seed, variations } = (await response.json()) as {
        seed: string | null;
        variations: { id: string; isOn: boolean }[];
      };
      const on = variations.filter(({ isOn }) => isOn).map(({ id }) => id);
      expect([seed, on]).toEqual([null, ['json-spaces', 'media-type', 'chunked']]);
      for (let round = 0; round < 3; round += 1) {
        const refused = await fetch(`${ready.baseUrl}/nowhere`);
        expect(refused.headers.get('transfer-encoding')).toBe('chunked');
      }
    } finally {
      await running.end();
    }
  });

  it('refuses an unknown name, and prints the known ones', async () => {
    const { stderr, code } = await runCommand(['serve', '--variation', 'chunks']);
    expect(code).toBe(2);
    for (const { id } of variationRows) expect(stderr).toContain(id);
  });
});

describe('serve --variation-seed', () => {
  it('prints every variation and its rule without a seed, and starts nothing', async () => {
    const { stdout, code } = await runCommand(['serve', '--variation-seed']);
    expect(code).toBe(0);
    for (const { id, varies, rule } of variationRows) {
      for (const sentence of [id, varies, rule]) expect(stdout).toContain(sentence);
    }
  });

  it('prints one JSON value with --json and without a seed', async () => {
    const { stdout, code } = await runCommand(['serve', '--variation-seed', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(
      variationRows.map(({ id, varies, rule }) => ({ id, varies, rule })),
    );
  });

  it('varies the responses by the given seed', async () => {
    const { ready, running } = await startServe(['--variation-seed', 'one']);
    try {
      const types = new Set<string | null>();
      for (let round = 0; round < 12; round += 1) {
        const response = await fetch(`${ready.baseUrl}/nowhere`);
        types.add(response.headers.get('content-type'));
      }
      expect(types.size).toBeGreaterThan(1);
    } finally {
      await running.end();
    }
  });

  it('refuses an empty seed, and names the accepted values', async () => {
    const { stderr, code } = await runCommand(['serve', '--variation-seed', '']);
    expect(code).toBe(2);
    expect(stderr).toContain('text that is not empty');
  });
});
