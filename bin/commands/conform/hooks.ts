/** `fleetbed conform hooks`: prints the input and output of hooks. */
import type { Command } from 'commander';
import { describedSteps } from '../../../conformance/conformance.ts';
import { addExamples } from '../../options/examples.ts';
import { jsonOption } from '../../options/shared-options.ts';
import { createOutput } from '../../output/output.ts';

const contract = [
  'The file for --hooks names one command for all steps, or one per step. Commands run without a shell.',
  '',
  '  timeLimitSeconds: 20            # default: 30',
  '  command: [node, control.mjs]      # for every step without a command of its own',
  '  steps:                          # default: the command handles every step',
  '    accept: [./accept.sh]',
  '    deploy:                       # uses the command above',
  '',
  'A command reads one JSON object from stdin: step, baseUrl, tenant (from make-tenant, or null)',
  'and input. It prints one JSON object of at most 1 MiB; no output means {}. What it writes to',
  'stderr is kept as evidence. Pass secrets by environment, never on the command line.',
  'Exit codes: 0 done; 3 not possible on this server: the case is skipped; any other, or a',
  'command that exceeds its time limit: the case is inconclusive.',
  'Cases that need a step without a command are skipped.',
] as const;

export function configure(command: Command): void {
  addExamples(command, 'fleetbed conform hooks');
  command.addOption(jsonOption()).action(({ json = false }: { readonly json?: boolean }) => {
    const output = createOutput(json);
    const steps = describedSteps();
    output.data(steps.map(([step, title, input, response]) => ({ step, title, input, response })));
    const lines = steps.flatMap(([step, title, input, response]) => [
      '',
      `${step}: ${title}`,
      `  input     {${input}}`,
      `  response  {${response}}`,
    ]);
    output.line([...contract, ...lines].join('\n'));
  });
}
