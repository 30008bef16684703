/** How many attributes and tags a device may have. Spec: Device inventory */
import { limits } from '../../fixtures/contract/limits.ts';

interface Named {
  readonly name: string;
}

/** Why the attributes are too many after the change; nothing when they are not. */
export function tooManyAttributes(
  kept: readonly Named[],
  changed: readonly Named[],
): string | undefined {
  const count = countOf(kept, changed);
  return count > limits.attributesMax
    ? `a device has at most ${limits.attributesMax} attributes, not ${count}`
    : undefined;
}

/** Why the tags are too many after the change; nothing when they are not. */
export function tooManyTags(kept: readonly Named[], changed: readonly Named[]): string | undefined {
  const count = countOf(kept, changed);
  return count > limits.tagsMax
    ? `a device has at most ${limits.tagsMax} tags, not ${count}`
    : undefined;
}

function countOf(kept: readonly Named[], changed: readonly Named[]): number {
  return new Set([...kept, ...changed].map(({ name }) => name)).size;
}
