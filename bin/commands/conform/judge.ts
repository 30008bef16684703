/**
 * `fleetbed conform judge`: judges a server by recorded exchanges between the server and its
 * devices.
 */
import type { Command } from 'commander';
import { judgeRecording, type RecordingJudgement } from '../../../conformance/passive/recording.ts';
import { recordingText } from '../../../conformance/passive/recording-text.ts';
import { RecordingError } from '../../../conformance/recordings/recording.ts';
import { addExamples } from '../../options/examples.ts';
import { exitCodeHelp } from '../../options/exit-code-help.ts';
import { headerPrefixOption, jsonOption } from '../../options/shared-options.ts';
import { urlOption } from '../../options/url-option.ts';
import { CommandError } from '../../output/command-error.ts';
import { type ExitCode, exitCodes } from '../../output/exit-codes.ts';
import { fileError, isFileProblem } from '../../output/files.ts';
import { createOutput } from '../../output/output.ts';

interface JudgeOptions {
  readonly url?: string;
  readonly headerPrefix: string;
  readonly json?: boolean;
}

const exitCodeOf: Readonly<Record<RecordingJudgement['outcome'], ExitCode>> = {
  fail: exitCodes.failed,
  pass: exitCodes.pass,
  inconclusive: exitCodes.inconclusive,
};

const codes = exitCodeHelp({
  pass: 'no requirement is violated',
  failed: 'a requirement is violated',
  setUp: 'the recording cannot be read',
  inconclusive: 'nothing could be judged',
});

const help = `
FILE is a HAR 1.2 file, as browsers and proxies save it, or a journal, as fleetbed journal --json
prints it (--limit 500): a line or a list entry for each exchange. Exchanges of devices are judged by the rules that
fleetbed simulate --check-share applies. Anything that the recording lacks is counted as not judged.

JSON is {file, format, server, outcome: "pass"|"fail"|"inconclusive", entries, judged, devices, alone,
requirements: [{requirement, sentence, judged, violated, firstViolation?}], leftOut: [{reason, entries,
first: [location]}]}. Tokens and signatures are masked.
${codes}`;

/** Adds the options and the action of the subcommand. */
export function configure(command: Command): void {
  addExamples(
    command,
    'fleetbed conform judge traffic.har',
    'fleetbed conform judge journal.ndjson --url http://127.0.0.1:8080',
  );
  command
    .argument('<file>', 'HAR file or journal')
    .addOption(
      urlOption('base URL of the server to judge (default: the one with calls of devices)'),
    )
    .addOption(headerPrefixOption())
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(async (file: string, { json = false, ...plan }: JudgeOptions) => {
      const judgement = await judgeRecording(file, plan).catch((error: unknown) => {
        throw recordingError(file, error);
      });
      const output = createOutput(json);
      output.data(judgement);
      output.line(recordingText(judgement));
      process.exitCode = exitCodeOf[judgement.outcome];
    });
}

function recordingError(file: string, error: unknown): unknown {
  if (error instanceof RecordingError) {
    const remedy =
      error.location === '' ? '' : ' Record the traffic again, or remove the damaged part.';
    return new CommandError(`${error.message}${remedy}`, exitCodes.setUp, error);
  }
  return isFileProblem(error) ? fileError(`cannot read ${file}`, error) : error;
}
