/** The sections of the page about devices: errors by cause, outcomes by group, and each device. */
import { embeddedJson } from '../../fixtures/base/markup.ts';
import { stateText } from '../result/device-states.ts';
import type { DeviceRow, FleetResult } from '../result/result.ts';
import type { ShownDevice, ShownDevices, ShownSection, ShownTable } from './page-facts.ts';
import { errorText } from './text.ts';

/** Maximum bytes of device data on the page; the JSON report contains all devices. */
const DEVICES_MAX_BYTES = 1_300_000;
/** Maximum number of causes listed, the most frequent first. */
const ERRORS_MAX = 500;
/** Maximum number of rows in each table of groups. */
const GROUPS_MAX = 200;
/** Outcomes of a device in the order of the list, failures first. */
const outcomes = [
  'failure',
  'no-contact',
  'aborted',
  'updating',
  'pending',
  'off',
  'idle',
  'already-installed',
  'success',
] as const satisfies readonly DeviceRow['outcome'][];

/** Returns the section with the causes of errors and the affected operations. */
export function errorSection(result: FleetResult): ShownSection {
  const { errors } = result;
  const rows = errors.slice(0, ERRORS_MAX);
  const missing = errors.length - rows.length;
  return {
    id: 'errors',
    title: 'Errors by cause',
    lines: [
      `Errors: ${errorText(result)}. Causes are listed of refusals (4xx) and broken sockets too.`,
      ...(missing > 0 ? [`${missing} more causes are in the JSON report.`] : []),
    ],
    tables: [
      {
        caption: 'Causes',
        columns: ['Cause', 'Operation', 'Count'],
        rows: rows.map(({ cause, operation, count }) => [cause, operation, String(count)]),
      },
    ],
  };
}

/** Returns the section with the outcomes of each cohort, behaviour and key type. */
export function groupSection({ devices }: FleetResult): ShownSection {
  return {
    id: 'groups',
    title: 'Cohorts and behaviours',
    tables: [
      groupTable('By cohort', devices, ({ cohort }) => cohort ?? 'all'),
      groupTable('By behaviour', devices, ({ behaviour }) => behaviour),
      groupTable('By key type', devices, ({ keyType }) => keyType),
    ],
  };
}

function groupTable(
  caption: string,
  devices: readonly DeviceRow[],
  groupOf: (row: DeviceRow) => string,
): ShownTable {
  const groups = new Map<string, Map<string, number>>();
  for (const row of devices) {
    const counts = groups.get(groupOf(row)) ?? new Map<string, number>();
    groups.set(groupOf(row), counts);
    counts.set(row.outcome, (counts.get(row.outcome) ?? 0) + 1);
  }
  const rows = [...groups].slice(0, GROUPS_MAX).map(([name, counts]) => {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return [name, String(total), ...outcomes.map((outcome) => String(counts.get(outcome) ?? 0))];
  });
  return {
    caption,
    columns: [caption.replace('By ', ''), 'devices', ...outcomes.map(stateText)],
    rows,
  };
}

/** Returns the devices, failed ones first, up to the size limit of the page. */
export function devicesOf({ devices }: FleetResult): ShownDevices {
  const rank = (row: DeviceRow): number => outcomes.indexOf(row.outcome);
  const inOrder = devices.toSorted(
    (one, other) => rank(one) - rank(other) || one.index - other.index,
  );
  const texts = new TextList(DEVICES_MAX_BYTES);
  const rows: ShownDevice[] = [];
  for (const device of inOrder) {
    const row = shownDevice(device, texts);
    texts.spend(row);
    if (texts.isFull) break;
    rows.push(row);
  }
  return { texts: texts.list, rows, missing: devices.length - rows.length };
}

function shownDevice(row: DeviceRow, texts: TextList): ShownDevice {
  const { offeredMs, finishedMs } = row;
  const isTimed = offeredMs !== undefined && finishedMs !== undefined;
  return [
    row.index,
    row.serial,
    row.deviceId ?? '',
    texts.numberOf(stateText(row.outcome)),
    texts.numberOf(row.cohort ?? 'all'),
    texts.numberOf(row.behaviour),
    texts.numberOf(row.keyType),
    texts.numberOf(row.reported.join(', ')),
    texts.numberOf(row.artifactName),
    isTimed ? Math.max(0, Math.round((finishedMs - offeredMs) / 100) / 10) : null,
  ];
}

/** A list that stores each text of many rows once, and tracks the remaining size of the page. */
class TextList {
  readonly #numbers = new Map<string, number>();
  #room: number;

  constructor(bytes: number) {
    this.#room = bytes;
  }

  get list(): readonly string[] {
    return [...this.#numbers.keys()];
  }

  get isFull(): boolean {
    return this.#room < 0;
  }

  numberOf(word: string): number {
    const wordNumber = this.#numbers.get(word);
    if (wordNumber !== undefined) return wordNumber;
    const number = this.#numbers.size;
    this.#numbers.set(word, number);
    this.spend(word);
    return number;
  }

  spend(value: unknown): void {
    this.#room -= Buffer.byteLength(embeddedJson(value)) + 1;
  }
}
