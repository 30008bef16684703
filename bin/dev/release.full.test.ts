import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { nightlyNames } from './nightly/steps.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let clone: string;

const put = (file: string, text: string) => {
  mkdirSync(dirname(join(clone, file)), { recursive: true });
  writeFileSync(join(clone, file), text);
};

const putManifest = (more: object) =>
  put(
    'package.json',
    JSON.stringify({
      name: 'sample',
      version: '1.2.3',
      type: 'module',
      publishConfig: { provenance: true },
      ...more,
    }),
  );

const git = (...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
    cwd: clone,
    encoding: 'utf8',
  });

function putNightlyResult(ageDays: number): void {
  const date = new Date(systemClock.now() - ageDays * 86_400_000).toISOString();
  const steps = nightlyNames.map((name) => ({
    name,
    date,
    commit: 'a'.repeat(40),
    seconds: 3,
    figures: [],
  }));
  put('bin/dev/nightly/result.json', JSON.stringify(steps));
}

/** Creates a repository that can be released, with the built script. */
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'fleetbed-release-'));
  git('init', '--quiet');
  putManifest({ repository: 'github:ada/sample' });
  put('CHANGELOG.md', '# Changelog\n\n## 1.2.3 (2026-11-28)\n\n## 1.2.2 (2026-11-01)\n');
  put('.gitignore', 'build\nnode_modules\n*.tgz\n');
  putNightlyResult(3);
  cpSync(join(root, 'build', 'bin', 'dev'), join(clone, 'build', 'bin', 'dev'), {
    recursive: true,
  });
  cpSync(join(root, 'build', 'fixtures'), join(clone, 'build', 'fixtures'), { recursive: true });
  mkdirSync(join(clone, 'node_modules'));
  for (const name of ['valibot', 'tinyqueue']) {
    cpSync(join(root, 'node_modules', name), join(clone, 'node_modules', name), {
      recursive: true,
    });
  }
  git('add', '--all');
  git('commit', '--quiet', '--message', 'first');
});

afterEach(() => rmSync(clone, { recursive: true }));

function release(...args: readonly string[]) {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(clone, 'build/bin/dev/release.js'), ...args],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        GIT_AUTHOR_NAME: 'Ada',
        GIT_AUTHOR_EMAIL: 'ada@example.com',
        GIT_COMMITTER_NAME: 'Ada',
        GIT_COMMITTER_EMAIL: 'ada@example.com',
      },
    },
  );
  return { status, stdout };
}

describe('npm run release', { timeout: 60_000 }, () => {
  it('prints in a dry run what it would do, and does nothing', () => {
    const { status, stdout } = release('--dry-run');
    expect([status, stdout.trim().split('\n').slice(-5)]).toEqual([
      0,
      [
        'would run: git tag --annotate v1.2.3 --message sample 1.2.3',
        'would run: npm pack',
        'to publish: git push origin v1.2.3',
        'to publish: npm publish sample-1.2.3.tgz',
        'to publish: docker build --file bin/ship/Dockerfile --tag sample:1.2.3 .',
      ],
    ]);
    expect(git('tag', '--list')).toBe('');
  });

  it('tags the commit and packs it', () => {
    expect(release().status).toBe(0);
    expect(git('tag', '--list').trim()).toBe('v1.2.3');
    expect(readdirSync(clone)).toContain('sample-1.2.3.tgz');
    const again = release();
    expect([again.status, again.stdout]).toEqual([
      1,
      expect.stringContaining('FAILED  the version 1.2.3 has no tag: raise the version'),
    ]);
  });

  it.each([
    ['an uncommitted change', () => put('more.txt', ''), 'commit or remove 1 changed file'],
    [
      'a version that the changelog lacks',
      () => put('CHANGELOG.md', '# Changelog\n\n## 1.2.3 (unreleased)\n'),
      'its newest heading is "1.2.3 (unreleased)"; write "1.2.3 (',
    ],
    [
      'provenance without the repository of the sources',
      () => putManifest({}),
      'npm publish needs "repository" in package.json',
    ],
    ['an old nightly run', () => putNightlyResult(20), 'run `npm run test:nightly`'],
  ])('refuses %s, and changes nothing', (_, spoil, sentence) => {
    spoil();
    const { status, stdout } = release();
    expect([status, stdout]).toEqual([1, expect.stringContaining(sentence)]);
    expect(stdout).toContain('sample 1.2.3 cannot be released; nothing was changed');
    expect(git('tag', '--list')).toBe('');
  });

  it('refuses an unknown argument', () => {
    expect(release('--now')).toEqual({ status: 2, stdout: 'use no argument, or --dry-run\n' });
  });
});
