import { describe, expect, it } from 'vitest';
import { flameHtml } from './flame-html.ts';
import { type CpuProfile, flameTree, functionTimes } from './flame-tree.ts';

const base = 'file:///project/';

const node = (id: number, functionName: string, url = '', children: number[] = []) => ({
  id,
  callFrame: { functionName, url, lineNumber: url === '' ? -1 : id },
  children,
});

/** main calls walk, which calls itself and a package; 10 of 110 ms are idle. */
const profile: CpuProfile = {
  nodes: [
    node(1, '(root)', '', [2, 3, 7]),
    node(2, '(idle)'),
    node(3, '<main>', `${base}server/main.js`, [4]),
    node(4, 'walk', `${base}server/walk.js`, [5, 6]),
    { ...node(5, 'walk', `${base}server/walk.js`), callFrame: walkFrame() },
    node(6, '', `${base}node_modules/express/router.js`),
    node(7, 'emit', 'node:events'),
  ],
  samples: [2, 3, 4, 5, 6, 7],
  timeDeltas: [10_000, 20_000, 30_000, 10_000, 15_000, 25_000],
};

function walkFrame() {
  return { functionName: 'walk', url: `${base}server/walk.js`, lineNumber: 4 };
}

const root = flameTree(profile, base);

describe('the tree of a profile', () => {
  it('adds up what is below a frame, without idle time', () => {
    expect(root).toMatchObject({ name: '(root)', from: 'engine', selfMs: 0, totalMs: 100 });
    expect(root.children.map(({ name, totalMs }) => [name, totalMs])).toEqual([
      ['<main>', 75],
      ['emit', 25],
    ]);
  });

  it('knows where code comes from', () => {
    const [walk] = root.children[0]?.children ?? [];
    expect(walk).toMatchObject({ from: 'own', place: 'server/walk.js:5' });
    expect(walk?.children.map(({ name, from, place }) => ({ name, from, place }))).toEqual([
      { name: '(anonymous)', from: 'package', place: 'express/router.js:7' },
      { name: 'walk', from: 'own', place: 'server/walk.js:5' },
    ]);
    expect(root.children[1]).toMatchObject({ from: 'node', place: 'node:events:8' });
  });

  it('has no frames where the profile has none', () => {
    const nothing = { nodes: [], samples: [], timeDeltas: [] };
    expect(() => flameTree(nothing, base)).toThrow('the profile holds no frames');
  });
});

describe('the times of functions', () => {
  it('count a function that calls itself once in its total', () => {
    const times = functionTimes(root).map(({ name, selfMs, totalMs }) => [name, selfMs, totalMs]);
    expect(times).toEqual([
      ['walk', 40, 55],
      ['emit', 25, 25],
      ['<main>', 20, 75],
      ['(anonymous)', 15, 15],
      ['(root)', 0, 100],
    ]);
  });
});

describe('the page of a profile', () => {
  const page = flameHtml('Profile of a test', root);

  it('has a box for every frame, as wide as its time', () => {
    const widths = [...page.matchAll(/<rect x="([\d.]+)" y="\d+" width="([\d.]+)"/g)];
    expect(widths.map(([, x, width]) => [Number(x), Number(width)])).toEqual([
      ...[
        [0, 1200],
        [0, 900],
        [0, 660],
        [0, 180],
        [180, 120],
        [900, 300],
      ],
    ]);
  });

  it('keeps names of functions text', () => {
    expect(page).toContain('&lt;main&gt; server/main.js:4: total 75.0 %, self 20.0 %');
    expect(page).not.toContain('<main>server');
    expect(page).not.toContain('<script');
  });
});
