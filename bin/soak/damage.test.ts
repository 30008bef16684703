import { expect, it } from 'vitest';
import { seededRandom } from '../../fixtures/random.ts';
import { createOutput } from '../output.ts';
import { damageSoak } from './damage.ts';

const CASES = 4;

it(`${CASES} damages to a data folder are refused, or taken without loss`, {
  timeout: 120_000,
}, async () => {
  let told = '';
  const write = (text: string): void => {
    told += text;
  };
  const stream = { write };
  const output = createOutput(false, { stdout: stream, stderr: stream });
  const random = seededRandom('damage');
  expect(await damageSoak({ output, random, cases: CASES })).toEqual([]);
  expect(told).toContain(`damages: ${CASES}, faults: 0`);
});
