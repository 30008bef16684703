/** The options of runs in virtual time, and the options that they exclude. */
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { durationText } from '../../fixtures/base/duration.ts';
import {
  groupRows,
  type OptionRow,
  type UngroupedRows,
  type ValuesOf,
} from '../../fixtures/base/option-row.ts';
import type { FleetPlan } from '../../simulator/engine/simulate-fleet.ts';
import { cohortsOf } from '../../simulator/plan/cohort.ts';
import { type ExchangeFault, readExchangeFault } from '../../simulator/plan/exchange-faults.ts';
import { PlanInputError } from '../../simulator/plan/plan-input.ts';
import { type Restart, readRestart } from '../../simulator/plan/restarts.ts';
import { addOptionRow, addOptionRows } from '../options/option-rows.ts';

const SEEDS_MAX = 100_000;
const group = 'Virtual time';

const virtualRows = groupRows(group, {
  virtual: {
    flag: '--virtual',
    help: 'run the fleet and a reference server in one process, in virtual time, without network',
    cli: { kind: 'switch' },
  },
  virtualStart: {
    flag: '--virtual-start <time>',
    help: 'start date of the run',
    cli: { kind: 'moment' },
    default: { value: Date.parse('2026-11-21T12:00:00Z'), text: '2026-11-21T12:00:00Z' },
  },
  interleave: {
    flag: '--interleave',
    help: 'let the seed order simultaneous events and delay every request',
    cli: { kind: 'switch' },
  },
  estimate: {
    flag: '--estimate',
    help: 'estimate the machines that this fleet and larger ones need, from a sample run',
    cli: { kind: 'switch' },
    conflicts: ['virtual', 'explore', 'interleave', 'events', 'report', 'readyFile', 'metrics'],
  },
  explore: {
    flag: '--explore <count>',
    help: 'try this many seeds, each with its own order, faults and restarts, until one violates an invariant',
    cli: { kind: 'count', min: 1, max: SEEDS_MAX },
  },
} as const satisfies UngroupedRows);

const faultRow = {
  flag: '--fault <pairs>',
  group,
  help: "fault of one exchange: 'response-lost, device: 0, exchange: 7'; repeatable",
  cli: { kind: 'faults' },
} as const satisfies OptionRow<{ readonly kind: string }>;

const restartRow = {
  flag: '--restart <pairs>',
  group,
  help: "restart: 'server, at: 40m, lasting: 10s' or 'device: 0, at: 40m'; repeatable",
  cli: { kind: 'restarts' },
} as const satisfies OptionRow<{ readonly kind: string }>;

/** The options as commander parses them; times in milliseconds. */
export type VirtualOptions = ValuesOf<typeof virtualRows> & {
  readonly fault?: readonly ExchangeFault[];
  readonly restart?: readonly Restart[];
};

/** Adds the options of virtual time to the command. */
export function addVirtualOptions(command: Command): void {
  addOptionRows(command, virtualRows);
  addOptionRow(command, faultRow, listParser(readExchangeFault));
  addOptionRow(command, restartRow, listParser(readRestart));
}

/** Returns a parser that adds each use of a repeatable option to the earlier ones. */
function listParser<Value>(read: (text: string) => Value) {
  return (text: string, previous: readonly Value[] = []): Value[] => {
    try {
      return [...previous, read(text)];
    } catch (error) {
      if (error instanceof PlanInputError) throw new InvalidArgumentError(`${error.message}.`);
      throw error;
    }
  };
}

/** Options for servers, connections, processes and real time, which virtual runs do not accept. */
const realNetworkOnly = [
  'url',
  'email',
  'password',
  'token',
  'tenantToken',
  'ca',
  'cert',
  'key',
  'sourceAddresses',
  'connect',
  'state',
  'ledger',
  'metrics',
  'readyFile',
  'processes',
  'shard',
  'shards',
  'deploymentId',
  'redis',
  'redisCa',
  'workerSecret',
  'workerWait',
  'takeoverAfter',
];
const ownNames = ['virtualStart', 'interleave', 'explore', 'fault', 'restart'];

/** Returns a sentence about options that contradict each other, if any. */
export function virtualProblem(command: Command): string | undefined {
  const isGiven = (name: string): boolean => command.getOptionValueSource(name) === 'cli';
  const flagOf = (name: string): string =>
    command.options.find((option) => option.attributeName() === name)?.flags ?? name;
  if (!isGiven('virtual')) {
    const withoutVirtual = ownNames.find(isGiven);
    return withoutVirtual && `option '${flagOf(withoutVirtual)}' needs --virtual`;
  }
  const wrong = realNetworkOnly.find(
    (name) => isGiven(name) && command.getOptionValue(name) !== false,
  );
  return (
    wrong &&
    `option '--virtual' cannot be used with option '${flagOf(wrong)}': it has its own server`
  );
}

function missingDeviceProblem(
  flag: string,
  rows: readonly { readonly device: number | undefined }[],
  { devices }: FleetPlan,
): string | undefined {
  const row = rows.find(({ device = 0 }) => device >= devices);
  return (
    row &&
    `option '${flag}': there is no device ${row.device}; the last of ${devices} is device ${devices - 1}`
  );
}

/** Returns a sentence about a plan that cannot run in virtual time, if any. */
export function virtualPlanProblem(plan: FleetPlan, options: VirtualOptions): string | undefined {
  const { durationMs, iterations, until, stages, deploy } = plan;
  if ([durationMs, iterations, until, stages].every((end) => end === undefined)) {
    return "option '--virtual' needs an end: --duration, --iterations, --until or --stage";
  }
  if (cohortsOf(plan).some(({ policy }) => policy.connect)) {
    return "option '--virtual' has no WebSockets: remove connect from the plan, or add --no-connect";
  }
  const { fault = [], restart = [] } = options;
  const beyond =
    missingDeviceProblem(faultRow.flag, fault, plan) ??
    missingDeviceProblem(restartRow.flag, restart, plan);
  if (beyond !== undefined) return beyond;
  // The user of the run waits no longer than the time limit of a request.
  const isLong = (lastingMs: number): boolean => lastingMs >= plan.requestTimeLimitMs;
  const long =
    (restart.some((each) => each.device === undefined && isLong(each.lastingMs)) && restartRow) ||
    (fault.some((each) => each.name === 'server-restart' && isLong(each.lastingMs ?? 0)) &&
      faultRow);
  if (long) {
    const limit = durationText(plan.requestTimeLimitMs);
    return `option '${long.flag}': the restart must last less than --request-time-limit (${limit})`;
  }
  if (options.explore === undefined) return undefined;
  if (deploy === undefined) return "option '--explore <count>' needs --deploy ARTIFACT";
  return durationMs === undefined ? "option '--explore <count>' needs --duration" : undefined;
}
