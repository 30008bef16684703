/** How many attributes a device may have. Spec: Device inventory */
import { limits } from '../../fixtures/contract/limits.ts';

interface Named {
  readonly name: string;
}

/** Why the attributes are too many after the change; nothing when they are not. */
export function tooManyAttributes(
  kept: readonly Named[],
  changed: readonly Named[],
): string | undefined {
  const names = new Set([...kept, ...changed].map(({ name }) => name));
  return names.size > limits.attributesMax
    ? `a device has at most ${limits.attributesMax} attributes, not ${names.size}`
    : undefined;
}
