/**
 * Merges the attributes that a device or a user sets, and checks their limits.
 * Spec: Device inventory
 */
import { limits } from '../../fixtures/contract/limits.ts';
import type { Attribute, AttributeValue } from '../../fixtures/contract/resources.ts';
import { isJsonWithin } from '../../fixtures/contract/text.ts';

/** An inventory attribute of a device, with the time of its last change. */
export interface StoredAttribute {
  readonly name: string;
  readonly value: AttributeValue;
  readonly description?: string;
  readonly updatedMs: number;
}

/**
 * Returns all attributes after a change, sorted by name; an absent description keeps the previous
 * one.
 */
export function attributesAfter(
  stored: readonly StoredAttribute[],
  reported: readonly Attribute[],
  nowMs: number,
): StoredAttribute[] {
  const all = new Map(stored.map((attribute) => [attribute.name, attribute]));
  for (const { name, value, description = all.get(name)?.description } of reported) {
    const described = description !== undefined && { description };
    all.set(name, { name, value, updatedMs: nowMs, ...described });
  }
  return [...all.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns why a device's attributes are too many or too large; undefined when they are not. */
export function tooManyAttributes(all: readonly StoredAttribute[]): string | undefined {
  if (all.length > limits.attributesMax) {
    return `a device can have at most ${limits.attributesMax} attributes, not ${all.length}`;
  }
  const attributeValues = all.map(({ name, value, description }) => [name, value, description]);
  return isJsonWithin(attributeValues, limits.attributesMaxBytes)
    ? undefined
    : `the attributes of a device can have at most ${limits.attributesMaxBytes} bytes in total`;
}

/** Returns why a device's tags are too many; undefined when they are not. */
export function tooManyTags(all: readonly StoredAttribute[]): string | undefined {
  return all.length > limits.tagsMax
    ? `a device can have at most ${limits.tagsMax} tags, not ${all.length}`
    : undefined;
}
