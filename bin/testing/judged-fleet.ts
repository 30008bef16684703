/** Judges the devices of a fleet by the journal of the server that they called. */
import { JournalJudge } from '../../conformance/client-judge/journal-judge.ts';
import type { FleetOnTestbed } from './fleet-on-testbed.ts';

/** Returns what each device broke, by its ID, each as the duty and what is wrong. */
export function findingsOn({ testbed }: FleetOnTestbed): {
  readonly exchanges: number;
  readonly byDevice: ReadonlyMap<string, readonly string[]>;
} {
  const judge = new JournalJudge();
  const byDevice = new Map<string, string[]>();
  for (const entry of testbed.journal.list({})) {
    const { device } = entry as { device?: { id?: string } };
    for (const { duty, message } of judge.judge(entry)) {
      const id = device?.id ?? '';
      byDevice.set(id, [...(byDevice.get(id) ?? []), `${duty}: ${message}`]);
    }
  }
  return { exchanges: judge.exchanges, byDevice };
}
