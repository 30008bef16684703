/**
 * `npm run soak`: long and hostile runs against real processes, part by part. `-- --part NAME` runs
 * one of them, `-- --short` all of them in minutes, `-- --seed N` repeats a run, `-- --times N`
 * changes the number of repetitions of each part.
 */
import { parseArgs } from 'node:util';
import { systemRandom } from '../../../fixtures/random.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { CommandFault, reportFault } from '../../output/fault.ts';
import { createOutput } from '../../output/output.ts';
import type { SoakPart } from './part.ts';
import { soakParts } from './parts.ts';

/** Most faults printed per part. */
const FAULTS_SHOWN = 20;

const usage = `npm run soak -- [options]

  --part NAME  one of ${Object.keys(soakParts).join(', ')}; all of them by default, may be repeated
  --short      each part in about a minute
  --seed N     repeats a run
  --times N    number of repetitions of each part
  --help       shows this`;

const output = createOutput(false);
try {
  process.exitCode = await soak();
} catch (fault) {
  const { exitCode, sentence } = reportFault(fault);
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
  let found = 0;
  for (const [name, part] of chosen(values.part ?? Object.keys(soakParts))) {
    output.line(`# ${name}, seed ${seed}`);
    const faults = await part({ output, seed, short: values.short, times });
    for (const fault of faults.slice(0, FAULTS_SHOWN)) output.line(`fault: ${fault}`);
    output.line(`${name}: ${faults.length} faults`);
    found += faults.length;
  }
  return found === 0 ? exitCodes.pass : exitCodes.failed;
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
  } catch (fault) {
    if (!(fault instanceof TypeError)) throw fault;
    throw new CommandFault(`${fault.message}; --help shows the options`, exitCodes.usage);
  }
}

function chosen(names: readonly string[]): [string, SoakPart][] {
  return names.map((name) => {
    const part = soakParts[name];
    if (part) return [name, part];
    const known = Object.keys(soakParts).join(', ');
    throw new CommandFault(`--part ${name}: use one of ${known}`, exitCodes.usage);
  });
}

function wholeNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new CommandFault(`${option} ${text}: use a whole number above 0`, exitCodes.usage);
}
