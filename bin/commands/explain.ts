/**
 * `fleetbed explain`: explains why a request was refused or brought no update, and suggests a
 * remedy.
 */
import type { Command } from 'commander';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp, unreachableText } from '../options/exit-code-help.ts';
import * as values from '../options/option-values.ts';
import { deviceOption, jsonOption } from '../options/shared-options.ts';
import { CommandError } from '../output/command-error.ts';
import { type ExitCode, exitCodes } from '../output/exit-codes.ts';
import { createOutput } from '../output/output.ts';
import {
  addControlOptions,
  type ControlAccess,
  callControl,
  refusalOf,
} from '../server-access/control-listener.ts';

interface ExplainOptions extends ControlAccess {
  readonly device?: string;
  readonly json?: boolean;
}

const codes = exitCodeHelp({
  pass: 'explained',
  failed:
    'the journal has no such request, the request needs no explanation, or the device is unknown',
  setUp: unreachableText.controlListener,
});

const help = `
The response carries the request ID: as request_id in the body, and in the header X-SVC-RequestID.
For a poll that was answered with 204, the explanation names the condition that withheld the update at that time.
--device explains what the device would get if it repeated its last poll now, with a valid token;
the server keeps the last poll of each device until it stops, even when the journal has dropped it.

A request that was valid but is not recommended is explained by the duty of a device client that it breaks, with
a remedy; fleetbed journal --lint lists all of them.
${codes}`;

/** Adds the options and the action of `fleetbed explain`. */
export function configure(command: Command): void {
  addControlOptions(command)
    .argument(
      '[request-id]',
      'ID of a request that was refused, or of a poll that brought no update',
      values.nonEmptyText,
    )
    .addOption(deviceOption())
    .addOption(jsonOption())
    .addHelpText('after', help)
    .action(async (requestId: string | undefined, options: ExplainOptions) => {
      if ((requestId === undefined) === (options.device === undefined)) {
        command.error('give a request ID, or --device <device>');
      }
      process.exitCode = await explain(requestId, options);
    });
  addExamples(
    command,
    'fleetbed explain 204756c1-dd51-40d9-b330-3a9a33541029',
    'fleetbed explain --device 02:00:00:00:00:01',
  );
}

async function explain(requestId: string | undefined, options: ExplainOptions): Promise<ExitCode> {
  const { tenant, device, controlUrl, json = false } = options;
  const query = new URLSearchParams({ ...(tenant && { tenant }), ...(device && { device }) });
  const pathSuffix = requestId === undefined ? '' : `/${encodeURIComponent(requestId)}`;
  const headers = { Accept: json ? 'application/json' : 'text/plain' };
  const path = `/explanations${pathSuffix}?${query}`;
  const { status, body } = await callControl(options, path, { headers, expected: [200, 404] });
  // Loaded here, so that other commands start without the judge.
  const { findingLines, lintRequest } = await import('./journal/lint.ts');
  const findings = requestId === undefined ? [] : await lintRequest(options, requestId);
  if (status === 404 && findings.length === 0) {
    throw new CommandError(await refusalOf(controlUrl, body), exitCodes.failed);
  }
  const output = createOutput(json);
  if (json) {
    const explained = status === 404 ? { requestId } : ((await body.json()) as object);
    output.data(findings.length === 0 ? explained : { ...explained, findings });
    return exitCodes.pass;
  }
  if (status !== 404) output.line((await body.text()).trimEnd());
  if (findings.length > 0) output.line('Valid, but not recommended:');
  for (const line of findings.flatMap(findingLines)) output.line(line);
  return exitCodes.pass;
}
