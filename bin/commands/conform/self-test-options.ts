/** The options of `fleetbed conform self-test`, as table rows. */
import type { OptionRows, ValuesOf } from '../../../fixtures/base/option-row.ts';
import { sharedHelp } from '../../options/shared-options.ts';

const PROCESSES_MAX = 16;
const FUZZ_MAX = 100_000;
const SAMPLE_MAX = 100_000;
const group = 'Which cases';
const fuzzing = 'Random alterations';
const reports = 'Reports';

/** The default of `--seed`. */
export const defaultSeed = '1';
/** The default of `--floor`: the least share of random alterations that the suite must kill. */
export const defaultFloor = 0.95;

export const selfTestRows = {
  list: {
    flag: '--list',
    group,
    help: 'list the defects without running them',
    cli: { kind: 'switch' },
  },
  processes: {
    flag: '--processes <count>',
    group,
    help: 'processes that run defects in parallel',
    cli: { kind: 'count', min: 1, max: PROCESSES_MAX },
    default: { value: 1 },
  },
  sample: {
    flag: '--sample <count>',
    group,
    help: 'run the defects that changed since the committed result and this many others',
    cli: { kind: 'count', min: 0, max: SAMPLE_MAX },
    conflicts: ['fuzz', 'html'],
  },
  fuzz: {
    flag: '--fuzz <count>',
    group: fuzzing,
    help: 'run this many random alterations of responses instead of the planted defects',
    cli: { kind: 'count', min: 1, max: FUZZ_MAX },
    conflicts: ['html', 'updateResult'],
  },
  seed: {
    flag: '--seed <text>',
    group,
    help: `with --fuzz or --sample: seed of the selection (default: ${defaultSeed})`,
    cli: { kind: 'text' },
  },
  floor: {
    flag: '--floor <share>',
    group: fuzzing,
    help: `with --fuzz: share of MUST-violating alterations that must be killed (default: ${defaultFloor})`,
    cli: { kind: 'share' },
  },
  clients: {
    flag: '--clients',
    group,
    help: 'use defective device clients instead of defective servers; with --fuzz, random ones',
    cli: { kind: 'switch' },
    conflicts: ['html', 'updateResult', 'sample', 'list', 'cases', 'url', 'token'],
  },
  html: {
    flag: '--html <file>',
    group: reports,
    help: 'write the matrix as a page',
    cli: { kind: 'text' },
  },
  updateResult: {
    flag: '--update-result',
    group: reports,
    help: 'run the defects that changed since the committed result and --sample others; update the result',
    cli: { kind: 'switch' },
  },
  json: {
    flag: '--json',
    group: reports,
    help: sharedHelp.json,
    cli: { kind: 'switch' },
  },
} as const satisfies OptionRows;

/** The parsed options of `fleetbed conform self-test`. */
export type SelfTestRowValues = ValuesOf<typeof selfTestRows>;
