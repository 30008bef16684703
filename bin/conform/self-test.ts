/** `fleetbed conform self-test`: plants defects before a good server and sees who catches them. */
import { type Command, Option } from 'commander';
import { allDefects } from '../../conformance/self-test/defects/index.ts';
import type { DefectResult } from '../../conformance/self-test/judgement.ts';
import { isSound } from '../../conformance/self-test/judgement.ts';
import {
  casesTouched,
  playBaseline,
  playDefect,
  type SelfTestOptions,
} from '../../conformance/self-test/self-test.ts';
import { systemClock } from '../../fixtures/clock.ts';
import { defaultHeaderPrefix } from '../../fixtures/contract/vendor-names.ts';
import { systemRandom } from '../../fixtures/random.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import * as values from '../option-values.ts';
import { createOutput } from '../output.ts';
import { judgeProxied, openOwnServer } from '../self-test/good-targets.ts';
import { stopSignal } from '../stop-signal.ts';

interface SelfTestCommandOptions {
  readonly baseUrl?: string;
  readonly token?: string;
  readonly headerPrefix: string;
  readonly json?: boolean;
}

/** Adds the options of the subcommand and what it does. */
export function configure(command: Command): void {
  command
    .argument('[defect-id...]', 'only these defects')
    .addOption(
      new Option(
        '--base-url <url>',
        'a good server; without it our own, fresh for each defect',
      ).argParser(values.baseUrl),
    )
    .option('--token <jwt>', "a user's token for the server of --base-url", values.filled)
    .addOption(
      new Option('--header-prefix <prefix>', "the vendor's part of header names")
        .argParser(values.headerPrefix)
        .default(defaultHeaderPrefix),
    )
    .option('--json', 'standard output carries the result as JSON')
    .action(async (ids: readonly string[], options: SelfTestCommandOptions) => {
      process.exitCode = await selfTest(ids, options);
    });
}

async function selfTest(
  ids: readonly string[],
  options: SelfTestCommandOptions,
): Promise<ExitCode> {
  const output = createOutput(options.json ?? false);
  const defects = allDefects.filter(({ id }) => ids.length === 0 || ids.includes(id));
  const { baseUrl, token: userToken = '', headerPrefix } = options;
  const selfTestOptions: SelfTestOptions = {
    openTarget:
      baseUrl === undefined
        ? openOwnServer
        : async () => ({ baseUrl, headerPrefix, userToken, close: async () => undefined }),
    judge: judgeProxied,
    clock: systemClock,
    random: systemRandom,
    signal: stopSignal(),
  };
  const { footprints, faults } = await playBaseline(selfTestOptions);
  output.progress(`self-test: ${footprints.size} cases without a defect, ${faults.length} faults`);
  for (const fault of faults) output.progress(`self-test: ${fault} fails without a defect`);
  const results: DefectResult[] = [];
  for (const defect of defects) {
    const result = await playDefect(defect, casesTouched(defect, footprints), selfTestOptions);
    results.push(result);
    for (const line of linesOf(result)) output.line(line);
  }
  output.data({ faults, results });
  return faults.length === 0 && results.every(isSound) ? exitCodes.pass : exitCodes.failed;
}

function linesOf(result: DefectResult): string[] {
  const { id, outcome, killedBy, falseCatches, stumbles, played } = result;
  return [
    `${outcome} ${id} (${played} cases played)`,
    ...killedBy.map((each) => `  caught by ${each}`),
    ...stumbles.map((each) => `  the suite broke down in ${each}`),
    ...falseCatches.map(
      ({ caseId, requirements, expected = '', actual = '' }) =>
        `  false catch by ${caseId} for ${requirements.join(', ')}: expected ${expected}, saw ${actual}`,
    ),
  ];
}
