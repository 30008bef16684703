/** The exit codes of all commands. */

/** The exit codes of the command line, with the same meaning in all commands. */
export const exitCodes = {
  pass: 0,
  failed: 1,
  usage: 2,
  setUp: 3,
  inconclusive: 4,
  generatorLimited: 5,
  notAccepted: 6,
  incomplete: 7,
  internal: 70,
  interrupted: 130,
  /** 128 plus the number of SIGPIPE. */
  outputClosed: 141,
} as const;

/** The meaning of each exit code, as the guide says it. */
export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  pass: 'success; also Ctrl-C of commands that run until then (`serve`, `worker`, `journal`)',
  failed: [
    'failed: a failed verdict, a missed threshold, a reconciliation that does not agree, a failed assertion, an invalid signature, a planned fault that did not fire',
    'a requirement violated under load, a regression, a cleanup that left something, deprecated calls in recorded traffic',
    'a terminal that was cut off, a state saved in part',
  ].join(', '),
  usage: 'the command line is wrong',
  setUp: [
    'set-up failed: unreachable, not this API, login refused, port in use, file missing or unusable',
    'too few open files or ports, no terminal opened',
  ].join(', '),
  inconclusive: [
    'inconclusive: no case passed or failed, no device got a response or was updated, a threshold or a reconciliation could not be decided',
    'too little was measured to compare',
  ].join(', '),
  generatorLimited: 'the machine that made the load was the limit: its figures are not valid',
  notAccepted: 'no device of the fleet was accepted',
  incomplete: 'incomplete: a shard of a fleet was lost',
  internal: 'internal error',
  interrupted:
    'interrupted by Ctrl-C before the end; also a result of such a run, unless a case had failed before (1)',
  outputClosed: 'standard output was closed before the end, as by `| head`',
};

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * All exit codes, in the order in which one stands for several parts of a command: for `cleanup`
 * and `demo`, an interruption comes before a failure. `conform` returns `failed` itself when a case
 * had failed before Ctrl-C.
 */
const order: readonly ExitCode[] = [
  exitCodes.interrupted,
  exitCodes.outputClosed,
  exitCodes.failed,
  exitCodes.internal,
  exitCodes.usage,
  exitCodes.setUp,
  exitCodes.generatorLimited,
  exitCodes.incomplete,
  exitCodes.notAccepted,
  exitCodes.inconclusive,
  exitCodes.pass,
];

/** Returns the first in the order of the exit codes of the parts. */
export function worstExitCode(parts: readonly ExitCode[]): ExitCode {
  return order.find((code) => parts.includes(code)) ?? exitCodes.inconclusive;
}
