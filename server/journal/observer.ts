/** Records the activity of the protocol listeners in the journals of the tenants. */
import type { ExchangeObserver } from '../pipeline/plug-ins.ts';
import { keepLastPoll } from './last-poll.ts';
import { recordFrames } from './record-frames.ts';
import { journalOf } from './tenant-journal.ts';
import { UnparsableRecord } from './unparsable.ts';

export const journalObserver: ExchangeObserver = {
  onEnd: (record, tenant) => {
    // Must come first, because the journal then truncates long bodies.
    keepLastPoll(record, tenant.store.devices.cache);
    journalOf(tenant).add(record);
  },
  onUnparsable: (request, tenant) => {
    const atMs = tenant.clock.now();
    journalOf(tenant).add(new UnparsableRecord({ atMs, ...request }));
  },
  onSocket: (socket, origin, tenant) => {
    recordFrames(socket, { journal: journalOf(tenant), clock: tenant.clock }, origin);
  },
};
