/**
 * `fleetbed faults`: plans faults on a running server, lists those that fired, and removes them.
 */
import type { Command } from 'commander';
import { countText } from '../../fixtures/base/count-text.ts';
import type { ResponseOf } from '../../fixtures/control/operations.ts';
import { listActions, listReadyActions } from '../../server/faults/actions/actions.ts';
import type { RuleState } from '../../server/faults/fault-plans.ts';
import { planSchema } from '../../server/faults/plan-text.ts';
import { variationRows } from '../../server/variation/variations.ts';
import { addExamples } from '../options/examples.ts';
import { exitCodeHelp, unreachableText } from '../options/exit-code-help.ts';
import * as values from '../options/option-values.ts';
import { jsonOption } from '../options/shared-options.ts';
import { type ExitCode, exitCodes } from '../output/exit-codes.ts';
import { readNamedFile } from '../output/files.ts';
import { createOutput } from '../output/output.ts';
import {
  addControlOptions,
  type ControlAccess,
  type ControlResponse,
  callControl,
} from '../server-access/control-listener.ts';
import { readPlanFile, unfiredLines } from '../server-access/fault-plan-file.ts';

interface FaultsOptions extends ControlAccess {
  readonly json?: boolean;
}

/** Adds the subcommands of `fleetbed faults` with their actions. */
export function configure(command: Command): void {
  addExamples(command, 'fleetbed faults add plan.yaml', 'fleetbed faults check');
  addFaultCommand(
    command,
    'list',
    'list the rules: how often each matched, fired, and can still fire',
  ).action(async (options: FaultsOptions) => {
    process.exitCode = await listRules(options);
  });
  addFaultCommand(command, 'add', 'add the rules of a plan')
    .argument('<file>', 'plan in YAML or JSON', values.nonEmptyText)
    .action(async (file: string, options: FaultsOptions) => {
      process.exitCode = await addRules(file, options);
    });
  addFaultCommand(command, 'clear', 'remove all rules, or one')
    .argument('[id]', 'ID of the rule', values.nonEmptyText)
    .action(async (id: string | undefined, options: FaultsOptions) => {
      process.exitCode = await clearRules(id, options);
    });
  addFaultCommand(
    command,
    'check',
    'exit with code 1 when a planned fault never fired, or none is planned',
  ).action(async (options: FaultsOptions) => {
    process.exitCode = await checkRules(options);
  });
  addExamples(command.command('actions'), 'fleetbed faults actions')
    .description('list the actions of plans, and the variations of responses')
    .addOption(jsonOption())
    .action(printActions);
  addExamples(command.command('schema'), 'fleetbed faults schema')
    .description('print the JSON Schema of plans, for editors')
    .action(() => {
      process.stdout.write(`${JSON.stringify(planSchema(), null, 2)}\n`);
    });
}

const examples = {
  list: ['fleetbed faults list', 'fleetbed faults list --json'],
  add: ['fleetbed faults add plan.yaml'],
  clear: ['fleetbed faults clear', 'fleetbed faults clear gateway'],
  check: ['fleetbed faults check'],
} as const;

const codes = {
  pass: 'done',
  setUp: unreachableText.controlListener,
} as const;

const ownCodes = {
  list: {},
  add: { usage: 'the plan is invalid' },
  clear: {},
  check: { pass: 'every planned fault fired', failed: 'one never fired, or none is planned' },
} as const;

function addFaultCommand(
  command: Command,
  name: keyof typeof examples,
  description: string,
): Command {
  const subcommand = command.command(name).description(description).allowExcessArguments(false);
  subcommand.addHelpText('after', exitCodeHelp({ ...codes, ...ownCodes[name] }));
  addExamples(subcommand, ...examples[name]);
  return addControlOptions(subcommand).addOption(jsonOption());
}

/** Prints every action and variation with what it does. */
function printActions({ json = false }: { readonly json?: boolean }): void {
  const [all, readyActions] = [listActions(), listReadyActions()];
  const variations = variationRows.map(({ id, varies, rule }) => ({ id, varies, rule }));
  const output = createOutput(json);
  output.data({ actions: all, named: readyActions, variations });
  if (output.json) return;
  output.line('Actions, for `act` in a rule of a plan:');
  for (const { kind, does, required, optional, when } of all) {
    const fields = [...required, ...optional.map((name) => `[${name}]`)];
    output.line(`${kind}\n  ${does}`);
    output.line(`  fields: ${fields.join(', ') || 'none'}; when: ${when.join(', ')}`);
  }
  output.line('\nNamed actions, which need no fields:');
  for (const { name, act } of readyActions) output.line(`${name}\n  ${act}`);
  output.line('\nVariations, for serve --variation:');
  for (const { id, varies, rule } of variations) {
    output.line(`${id}\n  ${varies}\n  rule: ${rule}`);
  }
}

async function listRules(options: FaultsOptions): Promise<ExitCode> {
  const { body } = await callFaults(options, 'GET');
  const { rules } = (await body.json()) as { rules: readonly RuleState[] };
  const output = createOutput(options.json ?? false);
  output.data(rules);
  if (output.json) return exitCodes.pass;
  if (rules.length === 0) output.line('No faults are planned.');
  for (const { id, matched, fired, left } of rules) {
    output.line(`${id}: matched ${matched}, fired ${fired}, left ${left ?? 'unlimited'}`);
  }
  return exitCodes.pass;
}

async function addRules(file: string, options: FaultsOptions): Promise<ExitCode> {
  await readPlanFile('faults add', file);
  const text = await readNamedFile('faults add', file);
  const { body } = await callFaults(options, 'POST', { body: text });
  const { added } = (await body.json()) as { added: readonly string[] };
  const output = createOutput(options.json ?? false);
  output.data(added);
  if (!output.json) output.line(`Added ${added.join(', ')}.`);
  return exitCodes.pass;
}

async function clearRules(id: string | undefined, options: FaultsOptions): Promise<ExitCode> {
  const { body } = await callFaults(options, 'DELETE', id === undefined ? {} : { id });
  const response = (await body.json()) as { cleared: number };
  const output = createOutput(options.json ?? false);
  output.data(response);
  if (!output.json) output.line(`Removed ${countText(response.cleared, 'rule')}.`);
  return exitCodes.pass;
}

const allFired = 'Every planned fault has fired.';
const nonePlanned =
  'No fault is planned, so none has fired; add a plan with "npx fleetbed faults add FILE".';

async function checkRules(options: FaultsOptions): Promise<ExitCode> {
  const { status, body } = await callFaults(options, 'GET', { below: '/check' });
  const { rules, unfired } = (await body.json()) as ResponseOf<'GET /faults/check'>;
  const output = createOutput(options.json ?? false);
  output.data(unfired);
  const lines = unfired.length > 0 ? unfiredLines(unfired) : [rules > 0 ? allFired : nonePlanned];
  if (!output.json) for (const line of lines) output.line(line);
  return status === 200 && rules > 0 ? exitCodes.pass : exitCodes.failed;
}

/** A request to `/faults`, without its method. */
interface FaultsRequest {
  readonly below?: string;
  readonly id?: string;
  readonly body?: string;
}

function callFaults(
  options: FaultsOptions,
  method: string,
  { below = '', id, body }: FaultsRequest = {},
): Promise<ControlResponse> {
  const query = new URLSearchParams();
  if (options.tenant !== undefined) query.set('tenant', options.tenant);
  if (id !== undefined) query.set('id', id);
  const path = `/faults${below}?${query}`;
  return callControl(options, path, { method, body: body ?? null, expected: [200, 201, 409] });
}
