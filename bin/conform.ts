/** `fleetbed conform`: judges a server by the contract. */
import { type Command, Option } from 'commander';
import {
  type ConformanceOptions,
  type ConformanceResult,
  type Credentials,
  runConformance,
  SetupError,
} from '../conformance/conformance.ts';
import { conformanceJunit } from '../conformance/report/junit.ts';
import { caseList, conformanceReport } from '../conformance/report/text.ts';
import { systemClock } from '../fixtures/clock.ts';
import { defaultHeaderPrefix } from '../fixtures/contract/vendor-names.ts';
import { systemRandom } from '../fixtures/random.ts';
import { conformanceExitCode } from './conformance-outcome.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { setUpFault } from './fault.ts';
import { readNamedFile } from './files.ts';
import * as values from './option-values.ts';
import { createOutput, type Output } from './output.ts';
import { prepareReports, writeReports } from './reports.ts';
import { stopSignal } from './stop-signal.ts';
import { selectedCases, verdictTeller } from './suite-watch.ts';

const CASE_TIME_LIMIT_MS = 60_000;
const REQUEST_TIME_LIMIT_MS = 15_000;

interface ConformOptions {
  readonly baseUrl: string;
  readonly email: string;
  readonly password?: string;
  readonly token?: string;
  readonly headerPrefix: string;
  readonly disruptive?: boolean;
  readonly list?: boolean;
  readonly ca?: string;
  readonly report?: values.ReportFiles;
  readonly json?: boolean;
}

/** Adds the options of `fleetbed conform` and what it does. */
export function configure(command: Command): void {
  command
    .argument('[id-prefix...]', 'only the cases whose ids begin so')
    .addOption(
      new Option('--base-url <url>', 'where the server is')
        .argParser(values.baseUrl)
        .default('http://127.0.0.1:8080'),
    )
    .option('--email <email>', 'who logs in with --password', values.email, 'admin@example.com')
    .option('--password <password>', 'of the user', values.filled)
    .addOption(
      new Option('--token <jwt>', "a user's token in place of a login")
        .argParser(values.filled)
        .conflicts('password'),
    )
    .addOption(
      new Option('--header-prefix <prefix>', "the vendor's part of header names")
        .argParser(values.headerPrefix)
        .default(defaultHeaderPrefix),
    )
    .option('--disruptive', "also play the cases that touch others' devices")
    .option('--list', 'list the cases and play none')
    .option('--ca <file>', "PEM file with the server's certificate or its authority's")
    .option('--report <form=file>', 'json=FILE, junit=FILE; repeatable', values.report)
    .option('--json', 'standard output carries the result as JSON')
    .action(async (selection: readonly string[], options: ConformOptions) => {
      process.exitCode = await (options.list
        ? list(selection, createOutput(options.json ?? false))
        : conform(selection, options));
    });
}

function list(selection: readonly string[], output: Output): ExitCode {
  const cases = selectedCases(selection);
  tellUnmatched(selection, output);
  if (output.json) output.data(cases);
  else output.line(caseList(cases));
  return cases.length > 0 ? exitCodes.pass : exitCodes.undecided;
}

async function conform(selection: readonly string[], options: ConformOptions): Promise<ExitCode> {
  const output = createOutput(options.json ?? false);
  await prepareReports(options.report);
  tellUnmatched(selection, output);
  const caPem = options.ca === undefined ? undefined : await readNamedFile('--ca', options.ca);
  const credentials = credentialsOf(options);
  if (credentials === 'none') {
    output.progress('neither --password nor --token: cases that need a user are skipped');
  }
  const result = await judge({
    baseUrl: options.baseUrl,
    headerPrefix: options.headerPrefix,
    disruptive: options.disruptive ?? false,
    credentials,
    selection,
    signal: stopSignal(),
    onVerdict: verdictTeller(output, selectedCases(selection).length),
    ...(caPem !== undefined && { tls: { caPem } }),
  });
  await writeReports(options.report, { json: result, junit: () => conformanceJunit(result) });
  output.data(result);
  output.line(conformanceReport(result));
  return conformanceExitCode(result);
}

/** A mistyped beginning among others would otherwise just play fewer cases. */
function tellUnmatched(selection: readonly string[], output: Output): void {
  for (const beginning of selection) {
    if (selectedCases([beginning]).length > 0) continue;
    output.progress(`no case id begins with "${beginning}"; --list shows them all`);
  }
}

/** A run with the machine's clock and chance, and the limits of the command line. */
export async function judge(
  options: Omit<ConformanceOptions, 'clock' | 'random' | 'caseTimeLimitMs' | 'requestTimeLimitMs'>,
): Promise<ConformanceResult> {
  try {
    return await runConformance({
      ...options,
      clock: systemClock,
      random: systemRandom,
      caseTimeLimitMs: CASE_TIME_LIMIT_MS,
      requestTimeLimitMs: REQUEST_TIME_LIMIT_MS,
    });
  } catch (error) {
    throw error instanceof SetupError ? setUpFault(error, options.baseUrl) : error;
  }
}

function credentialsOf({ email, password, token }: ConformOptions): Credentials {
  if (token !== undefined) return { token };
  return password === undefined ? 'none' : { email, password };
}
