/** Measures the server's memory per known device. */
import { knownDevices } from '../authenticated-devices.ts';
import type { BenchContext } from '../rounds.ts';
import { type BenchRow, limitRow } from '../row.ts';
import { kilobytesEach, observedServer, once } from './observed.ts';

/**
 * Devices that authenticate before the measurement, so that late compilation and allocation are
 * over.
 */
const WARM_UP = 1000;
/**
 * The journal is full before the measurement, because its memory is limited and does not belong to
 * devices.
 */
const JOURNAL_ENTRIES = 1000;
const DEVICES = 20_000;
const QUICK_DEVICES = 2000;
const MEMORY_MAX_KB = 4;

/** Measures the memory of the server per known device, in KB. */
export async function knownDeviceRows({
  children,
  output,
  quick,
}: BenchContext): Promise<BenchRow[]> {
  const options = { autoAccept: true, journalEntriesMax: JOURNAL_ENTRIES };
  const server = await observedServer(children, options);
  await knownDevices(server.ready, WARM_UP);
  const count = quick ? QUICK_DEVICES : DEVICES;
  output.progress(`authenticating ${count} devices`);
  await server.begin();
  await knownDevices(server.ready, count, WARM_UP);
  const observation = await server.endObservation();
  await server.end();
  const { used: usedKb, resident: residentKb } = kilobytesEach(observation, count);
  return [
    limitRow({
      title: `memory of a known device in the server, one of ${count.toLocaleString('en-US')}`,
      unit: 'KB',
      subject: once('fleetbed', usedKb),
      limit: MEMORY_MAX_KB,
      note: `with its share of the database, measured once; the journal was full before; ${residentKb.toFixed(1)} KB resident`,
    }),
  ];
}
