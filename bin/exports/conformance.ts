/**
 * `import { runConformance } from 'fleetbed/conformance'`: tests a server against the contract and
 * returns the verdicts, as `fleetbed conform` does.
 */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import * as suite from '../../conformance/conformance.ts';
import { conformanceReport } from '../../conformance/report/text.ts';
import { readWaivers, type Waiver } from '../../conformance/result/waivers.ts';
import {
  reportedEntries,
  type SuiteOptions,
  suiteOptions,
} from '../../conformance/suite/options.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { defaultsOf } from '../../fixtures/base/option-row.ts';
import { systemRandom } from '../../fixtures/base/random.ts';
import { checkedInput } from '../../server/control/embedding/checked-input.ts';
import { conformanceFormats } from '../commands/conform/report-formats.ts';
import { renderRun } from '../options/reports.ts';

export {
  type CaseListing,
  type CaseVerdict,
  type ConformanceResult,
  ControlFileError,
  listCases,
  SetupError,
  UnknownIdError,
  type VerdictName,
} from '../../conformance/conformance.ts';
export type { Waiver };

/**
 * The server to test, the selection of cases, and how they run. The members of `SuiteOptions` are
 * the options of `fleetbed conform` with the same defaults; a name with `Ms` is in milliseconds.
 */
export interface ConformanceOptions extends Partial<SuiteOptions> {
  /** Base URL of the server, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The user of the management API; without one, only the cases that need none can pass. */
  readonly user?: Exclude<suite.Credentials, 'none'>;
  /** The `tenant_token` of the suite's devices; needed unless the user is in the default tenant. */
  readonly tenantToken?: string;
  /** Prefixes of case IDs, such as `authentication/`; every case runs when absent. */
  readonly selection?: readonly string[];
  /**
   * The control listener of `fleetbed serve` or of a testbed, for cases of time, faults and limits.
   */
  readonly control?: { readonly url: string; readonly token: string };
  /** Path of a file with commands that take the place of the management API (`--hooks`). */
  readonly hooks?: string;
  /** Capabilities that the server offers or lacks, where probes cannot tell. */
  readonly declared?: suite.Declaration;
  /** Known failures that are tolerated until a day. */
  readonly waivers?: readonly Waiver[];
  /** Certificate of the server or of its authority, in PEM. */
  readonly caPem?: string;
  /** Ends the run: running cases are cleaned up, and the others are not run. */
  readonly signal?: AbortSignal;
  /** Called with each verdict as soon as it is found. */
  readonly onVerdict?: (verdict: suite.CaseVerdict) => void;
}

const ownNames = [
  'url',
  'user',
  'tenantToken',
  'selection',
  'control',
  'hooks',
  'declared',
  'waivers',
  'caPem',
  'signal',
  'onVerdict',
] satisfies readonly (keyof ConformanceOptions)[];

/** Every option; those that a result records have the shape of the record. */
const optionsShape = v.partial(
  v.strictObject({
    ...v.entriesFromList([...ownNames, ...Object.keys(suiteOptions)], v.unknown()),
    ...reportedEntries(),
  }),
);

/**
 * Runs the selected cases, removes what they created, and returns the result.
 * @returns `outcome` is `pass` when no case failed; each verdict has its requirements and, unless it
 *   passed, its exchanges
 * @throws SetupError when the run cannot start (its subclass says why); ControlFileError for a wrong
 *   file of hooks; UnknownIdError for a selection or waiver that matches no case; TypeError for an
 *   unknown option and RangeError for a wrong value
 */
export async function runConformance(
  options: ConformanceOptions,
): Promise<suite.ConformanceResult> {
  checkedInput('runConformance', optionsShape, options);
  const { url, user, hooks, caPem, waivers = [], ...rest } = options;
  return suite.runConformance({
    ...defaultsOf(suiteOptions),
    ...rest,
    baseUrl: url,
    credentials: user ?? 'none',
    clock: systemClock,
    random: systemRandom,
    waivers: readWaivers(JSON.stringify({ waivers }), 'waivers', suite.waivableIds),
    ...(hooks !== undefined && { hooks: await hooksIn(hooks) }),
    ...(caPem !== undefined && { tls: { caPem } }),
  });
}

async function hooksIn(path: string) {
  return suite.readHookFile(await readFile(path, 'utf8'), dirname(resolve(path)));
}

/**
 * Renders a result as `fleetbed conform` does: `text` for a terminal, or a report format.
 * @throws RangeError for an unknown format
 */
export function renderConformance(
  result: suite.ConformanceResult,
  format: 'text' | 'json' | 'junit' | 'html',
): string {
  const text = { format: 'text', render: () => conformanceReport(result) };
  return renderRun([text, ...conformanceFormats], format, { result });
}
