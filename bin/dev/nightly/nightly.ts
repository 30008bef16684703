/**
 * `npm run test:nightly`: runs the checks that take too long for every change. Each passed step is
 * stored in `result.json`, which has to be committed. `-- --age` only prints the age of the
 * result, and fails when a step is too old; `-- --step NAME` runs one step.
 */
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { systemClock } from '../../../fixtures/base/clock.ts';
import {
  ageOfResult,
  type NightlyStep,
  readNightlyResult,
  resultFile,
  withStep,
} from './result.ts';
import { type NightlyCommand, nightlyNames, nightlySteps } from './steps.ts';

const SECOND_MS = 1000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const [option, value] = args;
  if (option === '--age') {
    const { isYoung, lines } = ageOfResult(resultFile, nightlyNames, systemClock.now());
    for (const line of lines) say(line);
    return isYoung ? 0 : 1;
  }
  const chosenSteps =
    option === undefined ? nightlySteps : nightlySteps.filter(({ name }) => name === value);
  if (chosenSteps.length === 0 || (option !== undefined && option !== '--step')) {
    say(`use --age, or --step with one of ${nightlyNames.join(', ')}`);
    return 2;
  }
  return runAll(chosenSteps);
}

async function runAll(chosen: readonly NightlyCommand[]): Promise<number> {
  const changes = textOf('git', ['status', '--porcelain', '--untracked-files=no']);
  if (changes.split('\n').some((line) => line !== '' && !isAboutResult(line))) {
    say('commit your changes first: the result names a commit');
    return 2;
  }
  const commit = textOf('git', ['rev-parse', 'HEAD']);
  for (const step of chosen) {
    say(`# ${step.name}`);
    const { code, seconds, figures } = await runCommand(step);
    if (code !== 0) {
      say(`${step.name} ended with exit code ${code} after ${seconds} s, and is not stored`);
      return 1;
    }
    say(`# ${step.name} passed in ${seconds} s`);
    const date = new Date(systemClock.now()).toISOString();
    storeStep({ name: step.name, date, commit, seconds, figures });
  }
  say('stored in bin/dev/nightly/result.json and conformance/self-test/result.ndjson: commit both');
  return 0;
}

/** Returns true for a line of `git status` about a file that the steps themselves write. */
function isAboutResult(line: string): boolean {
  return /(nightly\/result\.json|self-test\/(result\.ndjson|kinds\.svg))$/.test(line);
}

function storeStep(step: NightlyStep): void {
  const all = withStep(readNightlyResult(resultFile) ?? [], step);
  writeFileSync(resultFile, `${JSON.stringify(all, undefined, 2)}\n`);
}

/** Runs a step, shows its output, and collects its figures. */
async function runCommand({ args, figures }: NightlyCommand) {
  const startedMs = systemClock.monotonicMs();
  const env = { ...process.env, NO_COLOR: '1' };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    process.stdout.write(text);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const seconds = Math.round((systemClock.monotonicMs() - startedMs) / SECOND_MS);
  const lines = stripVTControlCharacters(output).match(figures) ?? [];
  return { code, seconds, figures: lines.map((line) => line.trim().replace(/ +/g, ' ')) };
}

function textOf(program: string, args: readonly string[]): string {
  return String(spawnSync(program, args).stdout).trim();
}
