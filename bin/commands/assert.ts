/** `fleetbed assert`: asserts what a device has done, and in which order. */
import { type Command, InvalidArgumentError } from 'commander';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp, unreachableText } from '../options/exit-code-help.ts';
import * as values from '../options/option-values.ts';
import { deviceOption, jsonOption } from '../options/shared-options.ts';
import { type ExitCode, exitCodes } from '../output/exit-codes.ts';
import { createOutput } from '../output/output.ts';
import { addControlOptions, callControl } from '../server-access/control-listener.ts';
import { type JournalOptions, queryOf } from './journal/filters.ts';

const TIMES_MAX = 1_000_000;
const SEQUENCE_MAX = 1_000_000_000;

interface AssertOptions
  extends Pick<JournalOptions, 'controlUrl' | 'controlToken' | 'tenant' | 'device'> {
  readonly times?: number;
  readonly after?: number;
  readonly json?: boolean;
}

type AssertStep = Readonly<Record<string, string | number>>;

const codes = exitCodeHelp({
  pass: 'the steps happened',
  failed: 'they did not, and what the journal shows instead is printed',
  usage: 'a step is wrong',
  setUp: unreachableText.controlListener,
});

const help = `
A step is a status that a device reports, such as rebooting, or journal filters separated by commas.
${codes}`;

/** Adds the options and the action of `fleetbed assert`. */
export function configure(command: Command): void {
  addControlOptions(command)
    .argument('<step...>', 'what must have happened, in this order', stepIn)
    .addOption(deviceOption())
    .option(
      '--times <count>',
      'number of times that the last step must follow the others (default: at least once)',
      values.count(0, TIMES_MAX),
    )
    .option(
      '--after <sequence>',
      'only entries after this sequence number',
      values.count(0, SEQUENCE_MAX),
    )
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(async (happened: readonly AssertStep[], options: AssertOptions) => {
      process.exitCode = await assertSteps(happened, options);
    });
  addExamples(
    command,
    'fleetbed assert --device 02:00:00:00:00:01 --times 1 rebooting success',
    'fleetbed assert --device 02:00:00:00:00:01 operation=post-auth-request,status=401 success',
  );
}

async function assertSteps(
  happened: readonly AssertStep[],
  options: AssertOptions,
): Promise<ExitCode> {
  const { controlUrl, controlToken, tenant, device, times, after, json = false } = options;
  const query = queryOf({ controlUrl, controlToken, ...(tenant !== undefined && { tenant }) });
  const { status, body } = await callControl(options, `/assert?${query}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      happened,
      device,
      times,
      ...(after !== undefined && { between: { after } }),
    }),
    expected: [200, 409],
  });
  const verdict = (await body.json()) as { sentence: string };
  const output = createOutput(json);
  output.data(verdict);
  output.line(verdict.sentence);
  return status === 200 ? exitCodes.pass : exitCodes.failed;
}

function stepIn(text: string, previous: readonly AssertStep[] = []): readonly AssertStep[] {
  if (/^[\w-]+$/.test(text)) return [...previous, { report: text }];
  const pairs = text.split(',').map((pair): [string, string | number] => {
    const [, name = '', value = ''] = /^([a-z]+)=(.+)$/.exec(pair) ?? [];
    if (name === '') {
      throw new InvalidArgumentError(
        'Accepted: a status such as success, or name=value,name=value.',
      );
    }
    return [name, name === 'status' && /^\d+$/.test(value) ? Number(value) : value];
  });
  return [...previous, Object.fromEntries(pairs)];
}
