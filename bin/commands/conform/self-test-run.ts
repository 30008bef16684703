/**
 * The parts that the self-test of planted defects and the self-test of random alterations share.
 */
import { listCases } from '../../../conformance/conformance.ts';
import type { Defect } from '../../../conformance/self-test/defect.ts';
import { type Baseline, runBaseline } from '../../../conformance/self-test/self-test.ts';
import {
  type DefectWorkers,
  forkedWorkers,
  ownWorker,
} from '../../../conformance/self-test/workers.ts';
import { secretVariables } from '../../../fixtures/base/secret-variables.ts';
import type { Output } from '../../output/output.ts';
import { stopSignal } from '../../output/stop-signal.ts';
import { withKnownIds } from './options.ts';
import { type CallerTarget, selfTestOn } from './self-test/good-targets.ts';
import { defaultSeed, type SelfTestRowValues } from './self-test-options.ts';

/** The options as commander parses them. */
export interface SelfTestCommandOptions extends SelfTestRowValues {
  readonly url?: string;
  readonly token?: string;
  readonly headerPrefix: string;
  readonly cases?: readonly string[];
  readonly worker?: boolean;
}

/** A self-test whose run without a defect has finished. The caller must close its workers. */
interface PreparedSelfTest extends DefectWorkers {
  readonly baseline: Baseline;
  readonly signal: AbortSignal;
}

/** Runs every case without a defect, and starts the workers. */
export async function begin(
  defects: readonly Defect[],
  options: SelfTestCommandOptions,
  output: Output,
): Promise<PreparedSelfTest> {
  const signal = stopSignal();
  const selfTestOptions = selfTestOn(targetOf(options), { signal });
  output.progress('self-test: running every case without a defect');
  const baseline = await runBaseline(defects, selfTestOptions, caseIds(options.cases));
  const { processes } = options;
  const workers =
    processes === 1
      ? ownWorker(selfTestOptions)
      : forkedWorkers(processes, workerArgs(options), workerSecrets(options));
  return { ...workers, baseline, signal };
}

/** Returns the server of `--url`, or `own` to use a new reference server for each defect. */
export function targetOf({
  url,
  token = '',
  headerPrefix,
}: SelfTestCommandOptions): CallerTarget | 'own' {
  return url === undefined ? 'own' : { baseUrl: url, headerPrefix, userToken: token };
}

function caseIds(prefixes: readonly string[] | undefined): ReadonlySet<string> | undefined {
  if (prefixes === undefined) return undefined;
  return new Set(withKnownIds(() => listCases(prefixes)).map(({ id }) => id));
}

function workerArgs(options: SelfTestCommandOptions): readonly string[] {
  const { url, headerPrefix, fuzz, seed = defaultSeed } = options;
  return [
    'conform',
    'self-test',
    '--worker',
    '--header-prefix',
    headerPrefix,
    ...(url === undefined ? [] : ['--url', url]),
    ...(fuzz === undefined ? [] : ['--fuzz', String(fuzz), '--seed', seed]),
  ];
}

/**
 * Returns the secrets for the environment of the workers: every user of the machine can read
 * command lines.
 */
function workerSecrets({ token }: SelfTestCommandOptions): Readonly<Record<string, string>> {
  return token === undefined ? {} : { [secretVariables.userToken]: token };
}
