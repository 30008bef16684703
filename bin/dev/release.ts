/**
 * `npm run release`: checks that the commit can be released, tags it and packs it. Publishing needs
 * an account, so its commands are printed. `-- --dry-run` checks, and prints what it would do.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../fixtures/base/clock.ts';
import { countText } from '../../fixtures/base/count-text.ts';
import { ageOfResult } from './nightly/result.ts';
import { nightlyNames } from './nightly/steps.ts';

/** The members of `package.json` that a release reads. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly repository?: unknown;
  readonly publishConfig?: { readonly provenance?: boolean };
}

/** One condition of a release: `problem` is absent when it holds. */
interface ReleaseCheck {
  readonly title: string;
  readonly problem?: string | undefined;
}

const [option, ...more] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

if ((option !== undefined && option !== '--dry-run') || more.length > 0) {
  say('use no argument, or --dry-run');
  process.exitCode = 2;
} else {
  process.exitCode = release(fileURLToPath(new URL('../../..', import.meta.url)));
}

function release(root: string): number {
  const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { name, version } = manifest;
  const tag = `v${version}`;
  const checks = checksOf(root, manifest);
  for (const { title, problem } of checks)
    say(problem ? `FAILED  ${title}: ${problem}` : `ok      ${title}`);
  if (checks.some(({ problem }) => problem)) {
    say(`${name} ${version} cannot be released; nothing was changed`);
    return 1;
  }
  const steps = [
    ['git', 'tag', '--annotate', tag, '--message', `${name} ${version}`],
    ['npm', 'pack'],
  ];
  const image = `docker build --file bin/ship/Dockerfile --tag ${name}:${version} .`;
  const publish = [`git push origin ${tag}`, `npm publish ${name}-${version}.tgz`, image];
  if (option === '--dry-run') {
    for (const args of steps) say(`would run: ${args.join(' ')}`);
  } else {
    for (const [program = '', ...args] of steps) {
      const { status } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
      if (status !== 0) {
        say(`${program} ${args.join(' ')} failed; remove the tag by git tag --delete ${tag}`);
        return 1;
      }
    }
  }
  for (const line of publish) say(`to publish: ${line}`);
  return 0;
}

function checksOf(
  root: string,
  { version, repository, publishConfig }: Manifest,
): readonly ReleaseCheck[] {
  const git = (...args: readonly string[]): string =>
    String(spawnSync('git', args, { cwd: root }).stdout).trim();
  const changes = git('status', '--porcelain');
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const [, newest = 'none'] = /^## (.*)$/m.exec(changelog) ?? [];
  const today = new Date(systemClock.now()).toISOString().slice(0, 10);
  const isDated = /^(\S+) \(\d{4}-\d{2}-\d{2}\)$/.exec(newest)?.[1] === version;
  const nightlyResult = join(root, 'bin/dev/nightly/result.json');
  const { isYoung, lines } = ageOfResult(nightlyResult, nightlyNames, systemClock.now());
  return [
    {
      title: 'no change is uncommitted',
      problem:
        changes && `commit or remove ${countText(changes.split('\n').length, 'changed file')}`,
    },
    {
      title: `the version ${version} has no tag`,
      problem: git('tag', '--list', `v${version}`) && 'raise the version in package.json',
    },
    {
      title: 'the changelog has the version with its day',
      problem: isDated
        ? undefined
        : `its newest heading is "${newest}"; write "${version} (${today})"`,
    },
    {
      title: 'its provenance can be proven',
      problem:
        publishConfig?.provenance && repository === undefined
          ? 'npm publish needs "repository" in package.json, the URL from which a pipeline builds it'
          : undefined,
    },
    { title: 'the nightly run is recent', problem: isYoung ? undefined : lines.at(-1) },
  ];
}
