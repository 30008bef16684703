import { expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/random.ts';
import { createOutput } from '../output.ts';
import { killsSoak } from './kills.ts';

const KILLS = 4;

it(`a loaded server that is killed ${KILLS} times has every write that it had acknowledged`, {
  timeout: 120_000,
}, async () => {
  let told = '';
  const write = (text: string): void => {
    told += text;
  };
  const stream = { write };
  const output = createOutput(false, { stdout: stream, stderr: stream });
  const faults = await killsSoak({ output, random: seededRandom('kill -9'), kills: KILLS });
  expect(faults).toEqual([]);
  for (const kind of ['acceptance', 'attribute', 'configuration', 'upload', 'tenant']) {
    expect(told).toMatch(new RegExp(`  ${kind}: [1-9]`));
  }
});
