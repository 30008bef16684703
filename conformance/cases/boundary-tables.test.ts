import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  alertsShape,
  artifactShape,
  attributesShape,
  deviceConfigurationShape,
  monitorConfigurationsShape,
} from '../../fixtures/contract/resources.ts';
import { malformedIds } from './artifacts.ts';
import { allowedNames, allowedTexts, malformedPairs, otherValues } from './configuration.ts';
import { kinds } from './inventory.ts';
import { malformedAttributeBodies, refusedAttributes } from './inventory-refusals.ts';
import { malformedAlerts, malformedConfigurations } from './monitor.ts';
import { alertFieldRows } from './monitor-alert-fields.ts';
import { alert, line, notAText, service, subject } from './monitor-samples.ts';

/** Names of the rows that the shape accepts. */
function taken(shape: v.GenericSchema, rows: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(rows).filter((name) => v.is(shape, rows[name]));
}

/** Wraps each value in a list, as list operations expect. */
function listed(rows: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, [row]]));
}

/** Parses texts as JSON; undefined, which no shape accepts, where that fails. */
function parsed(bodies: Readonly<Record<string, string>>): Record<string, unknown> {
  const json = v.pipe(v.string(), v.parseJson());
  return Object.fromEntries(
    Object.entries(bodies).map(([name, text]) => [name, v.safeParse(json, text).output]),
  );
}

describe('what the cases want refused is nothing that the contract allows', () => {
  it.each(Object.entries(refusedAttributes))('attributes: %s', (_, rows) => {
    expect(taken(attributesShape, listed(rows))).toEqual([]);
  });

  it.each(alertFieldRows)('alerts: $id', ({ refused }) => {
    expect(taken(alertsShape, listed(refused))).toEqual([]);
  });

  it.each(['name', 'status', 'type'])('monitor configurations: %s', (field) => {
    expect(taken(monitorConfigurationsShape, listed(notAText(field, service)))).toEqual([]);
  });

  it.each(Object.entries(otherValues))('configuration values: %s', (_, value) => {
    expect(v.is(deviceConfigurationShape, { key: value })).toBe(false);
  });

  it.each([
    ['attributes', attributesShape, malformedAttributeBodies],
    ['alerts', alertsShape, malformedAlerts],
    ['monitor configurations', monitorConfigurationsShape, malformedConfigurations],
    ['configuration', deviceConfigurationShape, malformedPairs],
  ])('bodies of %s', (_, shape, bodies) => {
    expect(taken(shape, parsed(bodies))).toEqual([]);
  });

  it('ids of artifacts', () => {
    expect(taken(artifactShape.entries.id, malformedIds)).toEqual([]);
  });
});

describe('what the cases want accepted is allowed by the contract', () => {
  it.each(kinds)('attributes: $words', ({ values }) => {
    const refused = values.filter((value) => !v.is(attributesShape, [{ name: 'a', value }]));
    expect(refused).toEqual([]);
  });

  it.each(alertFieldRows)('alerts: $id', ({ accepted = {} }) => {
    expect(taken(alertsShape, listed(accepted))).toEqual(Object.keys(accepted));
  });

  it('configuration names and texts', () => {
    const pairs = allowedNames.map((name, index) => [name, allowedTexts[index] ?? 'text']);
    expect(v.is(deviceConfigurationShape, Object.fromEntries(pairs))).toBe(true);
  });

  it('the samples that are altered', () => {
    const detailed = { ...alert, subject: { ...subject, details: { line_matching: line } } };
    expect(v.is(alertsShape, [alert, detailed])).toBe(true);
    expect(v.is(monitorConfigurationsShape, [service])).toBe(true);
  });
});
