/** The devices on the page: errors by cause, groups by shared properties, and each device. */

import type { DeviceRow, FleetResult } from '../result/result.ts';
import { element, type Html, section, table } from './html-elements.ts';

/** Devices that are listed; the JSON report has all of them. */
const DEVICES_MAX = 2000;
/** Causes that are listed, the most frequent first. */
const ERRORS_MAX = 500;
/** Behaviours and key types that are listed. */
const GROUPS_MAX = 200;
/** Failures come first. */
const outcomes = [
  'failure',
  'silent',
  'aborted',
  'underway',
  'waiting',
  'idle',
  'already-installed',
  'success',
] as const satisfies readonly DeviceRow['outcome'][];

/** Renders each cause with the operation it affected. */
export function errorSection({ errors }: FleetResult): Html {
  const rows = errors.slice(0, ERRORS_MAX);
  return section(
    'errors',
    'Errors by cause',
    ...leftOut(errors.length - rows.length, 'causes'),
    table(
      'Errors',
      ['Cause', 'Operation', 'Count'],
      rows.map(({ cause, operation, count }) => {
        return [cause, operation, String(count)];
      }),
    ),
  );
}

/** Renders the outcomes of each cohort, behaviour and key type. */
export function groupSection({ devices }: FleetResult): Html {
  return section(
    'groups',
    'Cohorts and behaviours',
    groupTable('By cohort', devices, ({ cohort }) => cohort ?? 'all'),
    groupTable('By behaviour', devices, ({ behaviour }) => behaviour),
    groupTable('By key type', devices, ({ keyType }) => keyType),
  );
}

function groupTable(
  caption: string,
  devices: readonly DeviceRow[],
  groupOf: (row: DeviceRow) => string,
): Html {
  const groups = new Map<string, Map<string, number>>();
  for (const row of devices) {
    const counts = groups.get(groupOf(row)) ?? new Map<string, number>();
    groups.set(groupOf(row), counts);
    counts.set(row.outcome, (counts.get(row.outcome) ?? 0) + 1);
  }
  const columns = [caption.replace('By ', ''), 'devices', ...outcomes];
  const rows = [...groups].slice(0, GROUPS_MAX).map(([name, counts]) => {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return [name, String(total), ...outcomes.map((outcome) => String(counts.get(outcome) ?? 0))];
  });
  return table(caption, columns, rows);
}

/** Renders one line per device, failed ones first; a filter narrows the list. */
export function devicesSection({ devices }: FleetResult): Html {
  const rank = (row: DeviceRow): number => outcomes.indexOf(row.outcome);
  const shown = devices
    .toSorted((one, other) => rank(one) - rank(other) || one.index - other.index)
    .slice(0, DEVICES_MAX);
  const options = outcomes.map((outcome) => element('option', { value: outcome }, outcome));
  return section(
    'devices',
    'Devices',
    ...leftOut(devices.length - shown.length, 'devices'),
    element(
      'form',
      { id: 'filters', 'aria-label': 'Filters' },
      element(
        'label',
        {},
        'Words ',
        element('input', { type: 'search', id: 'words', autocomplete: 'off' }),
      ),
      element(
        'label',
        {},
        'Outcome ',
        element('select', { id: 'outcome' }, element('option', { value: '' }, 'all'), ...options),
      ),
      element('button', { type: 'reset' }, 'Show all'),
      element(
        'output',
        { id: 'shown-count', 'aria-live': 'polite' },
        `${shown.length} of ${shown.length} devices`,
      ),
    ),
    element(
      'div',
      { id: 'device-list' },
      table(
        'Devices',
        ['Index', 'Serial', 'ID', 'Cohort', 'Behaviour', 'Key', 'Outcome', 'Reported', 'Installed'],
        shown.map((row) => [
          String(row.index),
          row.serial,
          row.deviceId ?? 'unknown',
          row.cohort ?? 'all',
          row.behaviour,
          row.keyType,
          element('span', { class: 'outcome', 'data-outcome': row.outcome }, row.outcome),
          row.reported.join(', '),
          row.artifactName,
        ]),
      ),
    ),
  );
}

function leftOut(count: number, what: string): readonly Html[] {
  if (count <= 0) return [];
  return [element('p', { class: 'hint' }, `${count} more ${what} are in the JSON report.`)];
}
