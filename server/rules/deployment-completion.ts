/** When a whole deployment ends: management's own rule, not the device API's. */

/** What the end of a deployment depends on. */
export interface CompletionFacts {
  readonly finishedMs?: number | undefined;
  /** Number of devices after which it ends, even if others are not finished. */
  readonly maxDevices?: number | undefined;
  /** True when it is not over for a device. */
  readonly hasUnfinished: boolean;
  /** True when a device that failed may try again. */
  readonly hasRetries: boolean;
  /** Devices that cannot go on; counted only where `maxDevices` is given. */
  readonly devicesThrough: number;
}

/** The time at which it ended, the former one if it had ended before; nothing while devices may go on. */
export function completedMs(facts: CompletionFacts, nowMs: number): number | undefined {
  const { hasUnfinished, hasRetries, devicesThrough, maxDevices = Infinity } = facts;
  const mayGoOn = hasUnfinished || hasRetries;
  if (mayGoOn && devicesThrough < maxDevices) return undefined;
  return facts.finishedMs ?? nowMs;
}
