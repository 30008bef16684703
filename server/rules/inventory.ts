/** How many attributes and tags a device may have. Spec: Device inventory */
import { limits } from '../../fixtures/contract/limits.ts';
import { isJsonWithin } from '../../fixtures/contract/text.ts';

interface Named {
  readonly name: string;
}

interface TellingAttribute extends Named {
  readonly value: unknown;
  readonly description?: string | undefined;
}

/** Why the attributes are too many, or too large, after the change; nothing when they are not. */
export function tooManyAttributes(
  kept: readonly TellingAttribute[],
  changed: readonly TellingAttribute[],
): string | undefined {
  const count = countOf(kept, changed);
  if (count > limits.attributesMax) {
    return `a device can have at most ${limits.attributesMax} attributes, not ${count}`;
  }
  const after = new Map<string, TellingAttribute>();
  for (const attribute of [...kept, ...changed]) {
    after.set(attribute.name, { ...after.get(attribute.name), ...attribute });
  }
  const told = [...after.values()].map(({ name, value, description }) => [
    name,
    value,
    description,
  ]);
  return isJsonWithin(told, limits.attributesMaxBytes)
    ? undefined
    : `the attributes of a device can have at most ${limits.attributesMaxBytes} bytes in total`;
}

/** Why the tags are too many after the change; nothing when they are not. */
export function tooManyTags(kept: readonly Named[], changed: readonly Named[]): string | undefined {
  const count = countOf(kept, changed);
  return count > limits.tagsMax
    ? `a device can have at most ${limits.tagsMax} tags, not ${count}`
    : undefined;
}

function countOf(kept: readonly Named[], changed: readonly Named[]): number {
  return new Set([...kept, ...changed].map(({ name }) => name)).size;
}
