/** Merges and bounds a device's configuration. Spec: Device configuration */
import { limits } from '../../fixtures/contract/limits.ts';
import { isJsonWithin } from '../../fixtures/contract/text.ts';
import type { Problem } from './problem.ts';

export type ConfigurationPairs = Readonly<Record<string, string>>;

/** The configuration after a change, or the reason why it is refused. */
export type MergeDecision = { readonly pairs: ConfigurationPairs } | Problem;

/** Updates the given keys, and removes those whose new value is empty. */
export function mergePairs(current: ConfigurationPairs, change: ConfigurationPairs): MergeDecision {
  const merged = new Map(Object.entries(current));
  for (const [key, value] of Object.entries(change)) {
    if (value === '') merged.delete(key);
    else merged.set(key, value);
  }
  return checkLimits(merged);
}

/** Replaces all pairs; keys with an empty value are omitted. */
export function replacePairs(change: ConfigurationPairs): MergeDecision {
  return mergePairs({}, change);
}

/** Replaces all pairs; keys with an empty value are kept. */
export function keepPairs(change: ConfigurationPairs): MergeDecision {
  return checkLimits(new Map(Object.entries(change)));
}

function checkLimits(all: ReadonlyMap<string, string>): MergeDecision {
  const { configurationKeysMax: keysMax, configurationMaxBytes: bytesMax } = limits;
  if (all.size > keysMax) return { problem: `a configuration can have at most ${keysMax} keys` };
  const pairs = Object.fromEntries(all);
  return isJsonWithin(pairs, bytesMax)
    ? { pairs }
    : { problem: `a configuration can have at most ${bytesMax} bytes in total` };
}
