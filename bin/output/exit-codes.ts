/** The exit codes of all commands. */

/** What an exit code of the command line means; the same in all commands. */
export const exitCodes = {
  /** Everything asked for was done and holds. */
  pass: 0,
  /** A verdict failed, the reconciliation found differences, or recorded traffic uses what is retired. */
  failed: 1,
  /** The command line itself is wrong. */
  usage: 2,
  /** Unreachable, port busy, login refused, file unusable: the run could not be set up. */
  setUp: 3,
  /** A threshold was missed, or nothing was decided (by a recording too). */
  undecided: 4,
  /** The machine that made the load was its limit: the figures are not valid. */
  limited: 5,
  /** An internal error. */
  internal: 70,
  /** Ctrl-C, or another signal that ends commands. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** All exit codes, the worst first. */
const order: readonly ExitCode[] = [
  exitCodes.interrupted,
  exitCodes.failed,
  exitCodes.internal,
  exitCodes.usage,
  exitCodes.setUp,
  exitCodes.limited,
  exitCodes.undecided,
  exitCodes.pass,
];

/** The exit code of a run whose parts have these exit codes: the worst of them. */
export function worstExitCode(parts: readonly ExitCode[]): ExitCode {
  return order.find((code) => parts.includes(code)) ?? exitCodes.undecided;
}
