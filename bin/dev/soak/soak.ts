/**
 * `npm run soak`: runs long and hostile tests against real processes, part by part. `-- --part
 * NAME` runs one part, `-- --short` runs all parts in minutes, `-- --seed N` repeats a run, `--
 * --times N` sets the number of repetitions of each part.
 */
import { parseArgs } from 'node:util';
import { systemRandom } from '../../../fixtures/base/random.ts';
import { CommandError, describeError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { createOutput } from '../../output/output.ts';
import type { SoakPart } from './part.ts';
import { soakParts } from './parts.ts';

/** Limit on the printed problems of a part. */
const PROBLEMS_SHOWN = 20;

const usage = `npm run soak -- [options]

  --part NAME  run only this part: ${Object.keys(soakParts).join(', ')}; repeatable
  --short      run each part in about a minute
  --seed N     repeat the run of this seed
  --times N    number of repetitions of each part
  --help       show this help`;

const output = createOutput(false);
try {
  process.exitCode = await soak();
} catch (error) {
  const { exitCode, sentence } = describeError(error);
  output.progress(sentence);
  process.exitCode = exitCode;
}

async function soak(): Promise<ExitCode> {
  const values = readOptions();
  if (values.help) {
    output.line(usage);
    return exitCodes.pass;
  }
  const seed = wholeNumber('--seed', values.seed) ?? systemRandom.integer(1, 2 ** 31 - 1);
  const times = wholeNumber('--times', values.times);
  let problemCount = 0;
  for (const [name, part] of partsNamed(values.part ?? Object.keys(soakParts))) {
    output.line(`# ${name}, seed ${seed}`);
    const problems = await part({ output, seed, short: values.short, times });
    for (const problem of problems.slice(0, PROBLEMS_SHOWN)) output.line(`problem: ${problem}`);
    output.line(`${name}: ${problems.length} problems`);
    problemCount += problems.length;
  }
  return problemCount === 0 ? exitCodes.pass : exitCodes.failed;
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        part: { type: 'string', multiple: true },
        seed: { type: 'string' },
        times: { type: 'string' },
        short: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CommandError(`${error.message}; --help shows the options`, exitCodes.usage);
  }
}

function partsNamed(names: readonly string[]): [string, SoakPart][] {
  return names.map((name) => {
    const part = soakParts[name];
    if (part) return [name, part];
    const partNames = Object.keys(soakParts).join(', ');
    throw new CommandError(`--part ${name}: use one of ${partNames}`, exitCodes.usage);
  });
}

function wholeNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new CommandError(`${option} ${text}: use a whole number above 0`, exitCodes.usage);
}
