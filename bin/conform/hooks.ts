/** `fleetbed conform hooks`: tells what hooks are given and what they answer. */
import type { Command } from 'commander';
import { describedSteps } from '../../conformance/conformance.ts';
import { createOutput } from '../output.ts';

const contract = [
  'A file for --hooks names a command for each step, or one for all; no shell reads them:',
  '',
  '  timeLimitSeconds: 20            # 30 without it',
  '  command: [node, steer.mjs]      # of every step without one of its own',
  '  steps:                          # without it the command knows every step',
  '    accept: [./accept.sh]',
  '    deploy:                       # by the command above',
  '',
  'Standard input is one JSON object: step, baseUrl, tenant (of make-tenant, or null), input.',
  'Standard output is one JSON object of at most 1 MiB; nothing is {}. Standard error is evidence.',
  'Exit code 0: done. 3: not possible here, which skips the case. Any other: failed, which leaves',
  'the case undecided, as does a hook that is too slow. Secrets never go over the command line.',
  'A step without a command skips the cases that take it.',
] as const;

/** Adds what it does. */
export function configure(command: Command): void {
  command
    .option('--json', 'write the steps to stdout as JSON')
    .action(({ json = false }: { readonly json?: boolean }) => {
      const output = createOutput(json);
      const steps = describedSteps();
      output.data(steps.map(([step, wish, input, answer]) => ({ step, wish, input, answer })));
      const lines = steps.flatMap(([step, wish, input, answer]) => [
        '',
        `${step}: ${wish}`,
        `  input   {${input}}`,
        `  answer  {${answer}}`,
      ]);
      output.line([...contract, ...lines].join('\n'));
    });
}
