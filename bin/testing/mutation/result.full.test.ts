import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
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

describe('the settings of the mutation run', () => {
  it('name the compiler by its full path, since the sandbox has no packages yet', async () => {
    const path: string = new URL('stryker.config.mjs', import.meta.url).href;
    const settings: { readonly buildCommand: string } = (await import(path)).default;
    const [, compiler = ''] = /^node ((?:\\ |\S)+)/.exec(settings.buildCommand) ?? [];
    const file = compiler.replaceAll('\\ ', ' ');
    expect([isAbsolute(file), existsSync(file)]).toEqual([true, true]);
  });
});
