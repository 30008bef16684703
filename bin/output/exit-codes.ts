/** The exit codes of all commands. */

/** What an exit code of the command line means; the same in all commands. */
export const exitCodes = {
  /** Everything asked for was done and holds. */
  pass: 0,
  /** What was checked does not hold: a case, a threshold, the reconciliation, or what recorded traffic uses. */
  failed: 1,
  /** The command line itself is wrong. */
  usage: 2,
  /** Unreachable, port busy, login refused, file unusable: the run could not be set up. */
  setUp: 3,
  /** Nothing was decided: too little was measured, or a verdict is open. */
  undecided: 4,
  /** The machine that made the load was its limit: the figures are not valid. */
  limited: 5,
  /** No device of the fleet was accepted: nothing but sign-ins was measured. */
  notAccepted: 6,
  /** A shard of the fleet was lost: part of it is unknown. */
  incomplete: 7,
  /** An internal error. */
  internal: 70,
  /** Ctrl-C, or another signal that ends commands. */
  interrupted: 130,
  /** Standard output was closed before the command had ended, as by `| head`: 128 and SIGPIPE. */
  outputClosed: 141,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** All exit codes, the worst first. */
const order: readonly ExitCode[] = [
  exitCodes.interrupted,
  exitCodes.outputClosed,
  exitCodes.failed,
  exitCodes.internal,
  exitCodes.usage,
  exitCodes.setUp,
  exitCodes.limited,
  exitCodes.incomplete,
  exitCodes.notAccepted,
  exitCodes.undecided,
  exitCodes.pass,
];

/** The exit code of a run whose parts have these exit codes: the worst of them. */
export function worstExitCode(parts: readonly ExitCode[]): ExitCode {
  return order.find((code) => parts.includes(code)) ?? exitCodes.undecided;
}
