/** Merges and bounds a device's settings. Spec: Device configuration */
import { limits } from '../../fixtures/contract/limits.ts';
import { isJsonWithin } from '../../fixtures/contract/text.ts';

export type DeviceSettings = Readonly<Record<string, string>>;

/** The settings after a change, or the reason why the change is refused. */
export type MergeDecision = { readonly settings: DeviceSettings } | { readonly reason: string };

/** Updates the named settings, and removes those whose new value is empty. */
export function mergeSettings(current: DeviceSettings, change: DeviceSettings): MergeDecision {
  const merged = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(change)) {
    if (value === '') merged.delete(name);
    else merged.set(name, value);
  }
  return checkLimits(merged);
}

/** Replaces all settings; settings with an empty value are omitted. */
export function replaceSettings(change: DeviceSettings): MergeDecision {
  return mergeSettings({}, change);
}

/** Replaces all settings; settings with an empty value are kept. */
export function keepSettings(change: DeviceSettings): MergeDecision {
  return checkLimits(new Map(Object.entries(change)));
}

function checkLimits(all: ReadonlyMap<string, string>): MergeDecision {
  const { configurationKeysMax: keysMax, configurationMaxBytes: bytesMax } = limits;
  if (all.size > keysMax) return { reason: `a device can have at most ${keysMax} settings` };
  const settings = Object.fromEntries(all);
  return isJsonWithin(settings, bytesMax)
    ? { settings }
    : { reason: `the settings of a device can have at most ${bytesMax} bytes in total` };
}
