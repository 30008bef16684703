import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { contractScoreText, readResult, scoreText } from './result.ts';
import { reasonOf } from './survivor-reasons.ts';

const result = readResult();

describe('the recorded result of the mutation run', () => {
  it('has a reason for every survivor', () => {
    const unexplained = Object.entries(result).flatMap(([file, { survivors }]) =>
      survivors.filter((survivor) => reasonOf(file, survivor) === undefined),
    );
    expect(unexplained).toEqual([]);
  });

  it('matches the scores in the guide', () => {
    const guide = readFileSync('bin/guide.md', 'utf8').replaceAll(/\s+/g, ' ');
    expect(guide).toContain(scoreText(result));
    expect(guide).toContain(contractScoreText(result));
  });
});
