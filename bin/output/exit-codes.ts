/** The exit codes of all commands. */

/** The exit codes of the command line, with the same meaning in all commands. */
export const exitCodes = {
  /** The command did everything, and every check succeeded. */
  pass: 0,
  /**
   * A check failed: a case, a threshold, the reconciliation, or deprecated usage in recorded
   * traffic.
   */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /**
   * The run could not be set up: server unreachable, port busy, login refused, or file unusable.
   */
  setUp: 3,
  /** The run is undecided: too little was measured, or a verdict is open. */
  undecided: 4,
  /** The machine that generated the load was the bottleneck, so the figures are not valid. */
  limited: 5,
  /** No device of the fleet was accepted, so only sign-ins were measured. */
  notAccepted: 6,
  /** A shard of the fleet was lost, so part of the result is missing. */
  incomplete: 7,
  /** An internal error. */
  internal: 70,
  /** Ctrl-C, or another signal that ends commands. */
  interrupted: 130,
  /**
   * Standard output was closed before the command ended, as by `| head`: 128 plus the number of
   * SIGPIPE.
   */
  outputClosed: 141,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** All exit codes, worst first. */
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

/** Returns the worst of the exit codes. */
export function worstExitCode(parts: readonly ExitCode[]): ExitCode {
  return order.find((code) => parts.includes(code)) ?? exitCodes.undecided;
}
