/** `fleetbed explain`: why a request was refused, and the command that goes through. */
import type { Command } from 'commander';
import type { Explanation } from '../server/explain/explain.ts';
import { explanationText } from '../server/explain/explanation-text.ts';
import { addControlOptions, ask, type ControlOptions, refusalOf } from './control-listener.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { CommandFault } from './fault.ts';
import * as values from './option-values.ts';
import { createOutput } from './output.ts';

interface ExplainOptions extends ControlOptions {
  readonly json?: boolean;
}

const help = `
The request id is in the answer: as request_id in the body, and in the header X-SVC-RequestID.

Exit codes:
  0  explained
  1  the journal knows no such request, or it was not refused
  2  the command line is wrong
  3  the control listener cannot be reached, or refuses the token
`;

/** Adds the options of `fleetbed explain` and what it does. */
export function configure(command: Command): void {
  addControlOptions(command)
    .argument('<request-id>', 'of the refused request', values.filled)
    .option('--json', 'write the explanation as one JSON line')
    .addHelpText('after', help)
    .action(async (requestId: string, options: ExplainOptions) => {
      process.exitCode = await explain(requestId, options);
    });
}

async function explain(requestId: string, options: ExplainOptions): Promise<ExitCode> {
  const { world, control } = options;
  const query = world === undefined ? '' : `?${new URLSearchParams({ world })}`;
  const path = `/explanations/${encodeURIComponent(requestId)}${query}`;
  const headers = { Accept: 'application/json' };
  const { status, body } = await ask(options, path, { headers, expected: [200, 404] });
  if (status === 404) throw new CommandFault(await refusalOf(control, body), exitCodes.failed);
  const explanation = (await body.json()) as Explanation;
  const output = createOutput(options.json ?? false);
  output.data(explanation);
  if (!output.json) output.line(explanationText(explanation).trimEnd());
  return exitCodes.pass;
}
