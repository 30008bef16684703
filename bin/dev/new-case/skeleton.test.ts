import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listFile, NewCaseError, newCase } from './skeleton.ts';

const list = readFileSync(new URL(`../../../${listFile}`, import.meta.url), 'utf8');

describe('a new case', () => {
  it('stands in a file of its own, with its requirement', () => {
    const { file, text } = newCase('monitor/alerts-are-kept', 'alerts.are-accepted', list);
    expect(file).toBe('conformance/cases/monitor-alerts-are-kept.ts');
    expect(text).toContain("area: 'monitor'");
    expect(text).toContain("id: 'alerts-are-kept'");
    expect(text).toContain("requirements: ['alerts.are-accepted']");
    expect(text).toContain('run: () =>');
  });

  it('is listed behind the others of its area', () => {
    const { list: changed } = newCase('monitor/alerts-are-kept', 'alerts.are-accepted', list);
    expect(changed).toContain(
      "import { monitorAlertsAreKeptCases } from './monitor-alerts-are-kept.ts';",
    );
    expect(changed).toMatch(/\.{3}monitorAlertFieldCases,\n {2}\.{3}monitorAlertsAreKeptCases,\n/);
    expect(changed.length - list.length).toBeLessThan(150);
  });

  it('of a new area is the last one', () => {
    const { list: changed } = newCase('novel/it-works', 'alerts.are-accepted', list);
    expect(changed.trimEnd()).toMatch(/\.{3}novelItWorksCases,\n\];$/);
  });

  it.each([
    ['', 'alerts.are-accepted', 'is not AREA/NAME'],
    ['monitor', 'alerts.are-accepted', 'is not AREA/NAME'],
    ['monitor/../x', 'alerts.are-accepted', 'is not AREA/NAME'],
    ['monitor/alert-fields', 'alerts.are-accepted', 'is there already'],
    ['monitor/alerts-are-kept', 'alerts.are-acepted', 'the nearest: alerts.are-accepted'],
  ])('is refused: %j %j', (id, requirement, sentence) => {
    expect(() => newCase(id, requirement, list)).toThrow(NewCaseError);
    expect(() => newCase(id, requirement, list)).toThrow(sentence);
  });
});
